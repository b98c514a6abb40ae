import { taskUnsupported } from "../../artifact/manifest.ts";
import { promptOf, withPrompt } from "./prompt.ts";
import { bestOf } from "./scores.ts";
import type { EncodingOptions, ModelOutput, TaskCall } from "./task-call.ts";

/** Calls a sparse encoder (SPLADE). The result is the weights of each text. */
export const sparseCall = (
  texts: readonly string[],
  { truncate = false, promptName }: EncodingOptions = {},
): TaskCall<SparseEntries[], ModelOutput> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "sparse") throw taskUnsupported(manifest, "sparse");
    return {
      inputs: withPrompt(promptOf(manifest, promptName), texts),
      truncate,
      decode: (outputs) => outputs.map((weights) => sparseEntries(weights)),
    };
  },
});

/** The weights above 0 of a sparse vector. */
export interface SparseEntries {
  /** Token ids, ascending. */
  readonly indices: number[];
  readonly values: number[];
}

/**
 * Lists the weights above 0, as torch's `Tensor.to_sparse` does.
 *
 * @param weights [vocabulary]
 * @param topK maximum number of weights; keeps the highest ones, still sorted by index; default: all
 */
export function sparseEntries(weights: Float32Array, topK: number = weights.length): SparseEntries {
  const indices: number[] = [];
  weights.forEach((weight, i) => {
    if (weight > 0) indices.push(i);
  });
  const weightOf = (i: number) => weights[i] as number;
  const kept = bestOf(indices, weightOf, topK).sort((a, b) => a - b);
  return { indices: kept, values: kept.map(weightOf) };
}
