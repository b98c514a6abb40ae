import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity, Task } from "../../artifact/manifest.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { topLabel } from "./tasks/accuracy.ts";

/** The least agreement with the decomposed float32 graph that is let through. */
export interface ParityLimit {
  readonly meanCosine: number;
  readonly minCosine: number;
}

/** Rounding of float32 sums taken in another order is below 1e-6. */
export const FP32_LIMIT: ParityLimit = { meanCosine: 0.999_999, minCosine: 0.999_99 };

/**
 * Agreement of vectors with reference ones, pair by pair: cosines. Of logits, of which a cosine would see but the sign where
 * there are one or two, 1 − ½ (distance / spread)², which is a cosine's equal for small distances; the spread is that of the
 * reference's texts. NaN anywhere makes every figure NaN, but for that of labels.
 */
export function parity(
  reference: readonly Float32Array[],
  vectors: readonly Float32Array[],
  task: Task["task"] = "embed",
): Parity {
  const spread = task === "classify" ? spreadOf(reference) : Number.NaN;
  const closeness = (expected: Float32Array, found: Float32Array) =>
    task === "embed" ? cosine(expected, found) : 1 - (distance(expected, found) / spread) ** 2 / 2;
  const cosines = reference.map((expected, i) => closeness(expected, vectors[i] as Float32Array));
  const differences = reference.map((expected, i) => maxAbsDiff(expected, vectors[i] as Float32Array));
  const same = reference.filter((expected, i) => sameLabel(expected, vectors[i] as Float32Array, spread));
  return {
    meanCosine: cosines.reduce((sum, value) => sum + value, 0) / cosines.length,
    minCosine: Math.min(...cosines),
    maxAbsDiff: Math.max(...differences),
    cases: reference.length,
    ...(task === "classify" && { top1: same.length / reference.length }),
  };
}

/** Of the spread: logits that are closer than this are a tie, which any rounding decides. */
const TIE = 0.05;

function sameLabel(expected: Float32Array, found: Float32Array, spread: number): boolean {
  const chosen = expected[topLabel(found)] ?? Number.NaN;
  return Math.max(...expected) - chosen <= TIE * spread;
}

/** Root of the mean squared distance of vectors from their mean. */
function spreadOf(vectors: readonly Float32Array[]): number {
  const mean = Float32Array.from(
    vectors[0] ?? [],
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
  return Math.sqrt(vectors.reduce((sum, vector) => sum + distance(vector, mean) ** 2, 0) / vectors.length);
}

const distance = (a: Float32Array, b: Float32Array): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] as number)));

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
