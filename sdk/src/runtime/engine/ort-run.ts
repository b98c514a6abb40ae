import type { InferenceSession, Tensor as OrtTensor, TensorConstructor } from "onnxruntime-common";
import type { TokenSequence } from "./engine.ts";
import { idsOf, secondFromOf } from "./token-sequence.ts";

/**
 * An encoder that onnxruntime has loaded. Its inputs are `input_ids`, `attention_mask` and, for some families,
 * `token_type_ids`. Its output is hidden states [batch, sequence, hidden], or logits [batch, labels].
 */
export interface OrtEncoder {
  session: InferenceSession;
  Tensor: TensorConstructor;
}

/** Runs one call for all sequences, padded on the right to the length of the longest one. */
export async function runPadded(
  { session, Tensor }: OrtEncoder,
  sequences: readonly TokenSequence[],
): Promise<Float32Array<ArrayBuffer>[]> {
  const lengths = sequences.map((sequence) => idsOf(sequence).length);
  const width = Math.max(...lengths);
  const shape = [sequences.length, width];
  const ids = new BigInt64Array(sequences.length * width);
  const mask = new BigInt64Array(sequences.length * width);
  sequences.forEach((sequence, row) => {
    idsOf(sequence).forEach((id, column) => {
      ids[row * width + column] = BigInt(id);
      mask[row * width + column] = 1n;
    });
  });
  const feeds: Record<string, OrtTensor> = {
    input_ids: new Tensor("int64", ids, shape),
    attention_mask: new Tensor("int64", mask, shape),
  };
  // Many model families have no input for token types.
  if (session.inputNames.includes("token_type_ids")) {
    const types = new BigInt64Array(ids.length);
    sequences.forEach((sequence, row) => {
      types.fill(1n, row * width + secondFromOf(sequence), row * width + (lengths[row] as number));
    });
    feeds["token_type_ids"] = new Tensor("int64", types, shape);
  }
  const outputs = await session.run(feeds);
  const output = outputs[session.outputNames[0] as string] as OrtTensor;
  const all = output.data as Float32Array<ArrayBuffer>;
  const rows = output.dims.length === 3 ? width : 1;
  const size = all.length / (sequences.length * rows);
  return lengths.map((length, row) => all.subarray(row * rows * size, (row * rows + Math.min(length, rows)) * size));
}
