import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity, Task } from "../../artifact/manifest.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { agreement, topLabel } from "./tasks/accuracy.ts";

/** The least agreement with the decomposed float32 graph that is let through. */
export interface ParityLimit {
  readonly meanCosine: number;
  readonly minCosine: number;
}

/** Rounding of float32 sums taken in another order is below 1e-6. */
export const FP32_LIMIT: ParityLimit = { meanCosine: 0.999_999, minCosine: 0.999_99 };

/**
 * Agreement of vectors or logits with reference ones, pair by pair; of single logits, of which a cosine sees but the sign, all
 * together and as deviations from their mean. NaN anywhere makes every figure NaN, but for that of labels.
 *
 * @param task whether the numbers are logits, of which the largest decides
 */
export function parity(
  reference: readonly Float32Array[],
  vectors: readonly Float32Array[],
  task: Task["task"] = "embed",
): Parity {
  const isSingle = task === "classify" && reference[0]?.length === 1;
  const wanted = isSingle ? [deviations(reference)] : reference;
  const found = isSingle ? [deviations(vectors)] : vectors;
  const cosines = wanted.map((expected, i) => cosine(expected, found[i] as Float32Array));
  const differences = reference.map((expected, i) => maxAbsDiff(expected, vectors[i] as Float32Array));
  return {
    meanCosine: cosines.reduce((sum, value) => sum + value, 0) / cosines.length,
    minCosine: Math.min(...cosines),
    maxAbsDiff: Math.max(...differences),
    cases: reference.length,
    ...(task === "classify" && { top1: agreement(vectors.map(topLabel), reference.map(topLabel)) / 100 }),
  };
}

function deviations(numbers: readonly Float32Array[]): Float32Array {
  const all = numbers.map(([number = Number.NaN]) => number);
  const mean = all.reduce((sum, number) => sum + number, 0) / all.length;
  return Float32Array.from(all, (number) => number - mean);
}

function maxAbsDiff(a: Float32Array, b: Float32Array): number {
  return a.reduce((max, value, i) => Math.max(max, Math.abs(value - (b[i] as number))), 0);
}

/** @throws BertEdgeError `accuracy_gate` unless `measured` reaches `limit`; NaN never does */
export function gate(what: string, measured: Parity, limit: ParityLimit): void {
  if (measured.meanCosine >= limit.meanCosine && measured.minCosine >= limit.minCosine) return;
  throw new BertEdgeError(
    "accuracy_gate",
    `${what} differs too much from the float32 model: cosine mean ${measured.meanCosine.toFixed(5)} and worst ` +
      `${measured.minCosine.toFixed(5)} over ${measured.cases} texts; at least ${limit.meanCosine} and ` +
      `${limit.minCosine} are asked.`,
    {
      hint: "Nothing was written. This is a fault of the fusion, not of the model: please report it with the model's config.json.",
    },
  );
}
