import type { Manifest, Task } from "../../artifact/manifest.ts";
import { outputWidth } from "../../artifact/output-width.ts";
import type { VectorHead } from "../engine/engine.ts";

/** Returns how a model's output becomes a vector; undefined for tasks that use the output itself. */
export function vectorHead(task: Task): VectorHead | undefined {
  if (task.task === "embed") return task;
  return task.task === "sparse" ? { pooling: "max", normalize: false } : undefined;
}

/** Finishes what an engine computed with the task's `vectorHead`. */
export const taskOutput = (task: Task, output: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> =>
  task.task === "sparse" ? sparseVector(output) : output;

/**
 * Computes SPLADE's weights log(1 + max(x, 0)): https://arxiv.org/abs/2109.10086
 *
 * @param logits maximum logit over a text's tokens, for each token of the vocabulary: [vocabulary]
 * @returns [vocabulary]
 */
const sparseVector = (logits: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> =>
  logits.map((logit) => Math.log1p(Math.max(logit, 0)));

/** Returns the length of a sequence's output. */
export const outputLength = (manifest: Manifest, sequence: { readonly length: number }): number =>
  outputWidth(manifest, manifest.vocabulary) * (isPerToken(manifest) ? sequence.length : 1);

/** Whether a task has an output for each token. Otherwise, it has one for the whole text. */
export function isPerToken({ task }: Pick<Task, "task">): boolean {
  switch (task) {
    case "embed":
    case "sparse":
    case "classify":
      return false;
    case "token-vectors":
    case "tag":
    case "answer":
    case "fill-mask":
      return true;
  }
}
