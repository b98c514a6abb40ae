import type { Parity, Task } from "../../artifact/manifest.ts";
import { compareNumbers } from "./compare-numbers.ts";
import { topLabel } from "./tasks/accuracy.ts";

/**
 * Compares vectors or logits with the original ones, text by text.
 *
 * Vectors are compared by their cosine. The cosine of one or two logits shows only their signs, so logits are compared
 * by 1 − ½ (distance / spread)², which approximates a cosine for small distances. The spread is the standard deviation
 * of the original logits over the texts. If any number is NaN, the mean and the minimum cosine are NaN.
 */
export function parity(
  reference: readonly Float32Array[],
  vectors: readonly Float32Array[],
  task: Task["task"] = "embed",
): Parity {
  const spread = task === "classify" ? spreadOf(reference) : Number.NaN;
  const pairs = reference.map((expected, i) => ({ expected, found: vectors[i] as Float32Array }));
  const compared = pairs.map(({ expected, found }) => compareNumbers(expected, found, NO_TOLERANCE));
  const cosines = pairs.map(({ expected, found }, i) =>
    task === "embed" ? (compared[i]?.cosine ?? Number.NaN) : 1 - (distance(expected, found) / spread) ** 2 / 2,
  );
  const same = pairs.filter(({ expected, found }) => sameLabel(expected, found, spread));
  return {
    meanCosine: cosines.reduce((sum, value) => sum + value, 0) / cosines.length,
    minCosine: Math.min(...cosines),
    maxAbsDiff: Math.max(...compared.map(({ maxAbs }) => maxAbs)),
    cases: reference.length,
    ...(task === "classify" && { top1: same.length / reference.length }),
  };
}

/** No tolerance is needed, because limits apply to the cosines. */
const NO_TOLERANCE = { absolute: 0, relative: 0 };

/**
 * Logits that differ by less than this share of the spread count as equal, because rounding would decide which of them
 * is the largest.
 */
const TIE = 0.05;

function sameLabel(expected: Float32Array, found: Float32Array, spread: number): boolean {
  const chosen = expected[topLabel(found)] ?? Number.NaN;
  return Math.max(...expected) - chosen <= TIE * spread;
}

/** Returns the root of the mean squared distance between the vectors and their mean. */
function spreadOf(vectors: readonly Float32Array[]): number {
  const mean = Float32Array.from(
    vectors[0] ?? [],
    (_, i) => vectors.reduce((sum, vector) => sum + (vector[i] as number), 0) / vectors.length,
  );
  return Math.sqrt(vectors.reduce((sum, vector) => sum + distance(vector, mean) ** 2, 0) / vectors.length);
}

const distance = (a: Float32Array, b: Float32Array): number =>
  Math.hypot(...a.map((value, i) => value - (b[i] as number)));
