import type { Manifest, Task } from "../../artifact/manifest.ts";
import { outputWidth } from "../../artifact/output-width.ts";
import type { TokenIds, VectorHead } from "../engine/engine.ts";
import { unit } from "./sentence-vector.ts";

/** Returns how a model's output becomes a vector; undefined for tasks that use the output itself. */
export function vectorHead(task: Task): VectorHead | undefined {
  if (task.task === "embed") return task;
  return task.task === "sparse" ? { pooling: "max", normalize: false } : undefined;
}

/** Turns an engine's output, computed with the task's `vectorHead`, into the output of the task. */
export function taskOutput(task: Task, output: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  if (task.task === "sparse") return sparseVector(output);
  return task.task === "token-vectors" ? unitRows(output, task.dimensions) : output;
}

/**
 * Normalizes the vector of each token, as ColBERT does: https://arxiv.org/abs/2004.12832
 *
 * @param rows row-major [tokens, dimensions]
 */
function unitRows(rows: Float32Array<ArrayBuffer>, dimensions: number): Float32Array<ArrayBuffer> {
  const units = new Float32Array(rows.length);
  for (let at = 0; at < rows.length; at += dimensions) units.set(unit(rows.slice(at, at + dimensions)), at);
  return units;
}

/**
 * Computes SPLADE's weights log(1 + max(x, 0)): https://arxiv.org/abs/2109.10086
 *
 * @param logits maximum logit over a text's tokens, for each token of the vocabulary: [vocabulary]
 * @returns [vocabulary]
 */
const sparseVector = (logits: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> =>
  logits.map((logit) => Math.log1p(Math.max(logit, 0)));

/**
 * Returns the part of a model's output that a request needs. For fill-mask, these are the rows of the mask tokens, because the logits
 * of all tokens take many megabytes. For other tasks, it is the whole output.
 */
export function neededOutput(
  manifest: Manifest,
  output: Float32Array<ArrayBuffer>,
  ids: TokenIds,
): Float32Array<ArrayBuffer> {
  if (manifest.task !== "fill-mask") return output;
  const { mask, vocabulary } = manifest;
  const rows = new Float32Array(outputLength(manifest, ids));
  let end = 0;
  for (const [token, id] of ids.entries()) {
    if (id !== mask.id) continue;
    rows.set(output.subarray(token * vocabulary, (token + 1) * vocabulary), end);
    end += vocabulary;
  }
  return rows;
}

/**
 * Returns the number of values that `neededOutput` returns for a sequence.
 *
 * @param ids the sequence; not needed for tasks with one output for the whole text
 */
export function outputLength(manifest: Manifest, ids: TokenIds | undefined): number {
  const width = outputWidth(manifest, manifest.vocabulary);
  if (!isPerToken(manifest)) return width;
  const rows = manifest.task === "fill-mask" ? ids?.filter((id) => id === manifest.mask.id) : ids;
  return width * (rows?.length ?? 0);
}

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
