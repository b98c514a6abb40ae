import type { ValueInfo } from "../graph/plain.ts";

/** Inputs and output of every encoder graph, named and typed as transformers' own ONNX exports are. */
export const bertInputs: readonly ValueInfo[] = ["input_ids", "attention_mask", "token_type_ids"].map((name) => ({
  name,
  dtype: "int64",
  shape: ["batch", "sequence"],
}));

export const bertOutput = (hidden: number): ValueInfo => ({
  name: "last_hidden_state",
  dtype: "float32",
  shape: ["batch", "sequence", hidden],
});
