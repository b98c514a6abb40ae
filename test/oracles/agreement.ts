import { largestOutputDifference, type Tensors } from "./run-model.ts";

/** The rounding that decides how far the results of two equal models may differ. */
export type Rounding = "float32" | "float16" | "quantized";

/**
 * Outputs are hidden states or logits, with magnitudes of a few units. Another order of summation changes float32 results
 * by less than 1e-5. A wrong mask, scale or axis changes them by more than 1e-2.
 */
const FLOAT32_TOLERANCE = 1e-4;

/** Maximum distance between the outputs of quantized models, as a share of their norm. Equals a cosine of 0.999. */
const QUANTIZED_SHARE = Math.sqrt(2 * (1 - 0.999));

/**
 * Tolerance for float16 models, as a number of `float16Unit`s. The original model rounds to float16 after every
 * operator. A fused operator rounds only once. Each of the two results has an error of about one unit per layer, and
 * the models have two or three layers.
 */
const FLOAT16_UNITS = 4;

/** Returns how much of its tolerance the difference between two results uses up: more than 1 if they differ. */
export function shareOfTolerance(found: Tensors, wanted: Tensors, rounding: Rounding): number {
  const difference = largestOutputDifference(found, wanted);
  if (rounding === "float32") return difference / FLOAT32_TOLERANCE;
  if (rounding === "float16") return difference / (FLOAT16_UNITS * float16Unit(wanted));
  if (difference === Number.POSITIVE_INFINITY) return difference;
  const shares = Object.entries(wanted).map(([name, { data }]) => {
    const [a, b] = [found[name]?.data ?? [], data].map((values) => Array.from(values as Float32Array, Number));
    const norm = Math.hypot(...(b as number[]));
    return norm === 0 ? difference : Math.hypot(...(b as number[]).map((x, i) => x - Number(a?.[i]))) / norm;
  });
  return Math.max(...shares) / QUANTIZED_SHARE;
}

/** Returns the distance between two neighboring float16 numbers. The distance is taken at the largest output. */
function float16Unit(outputs: Tensors): number {
  const magnitudes = Object.values(outputs).flatMap(({ data }) => Array.from(data as Float32Array, Math.abs));
  return 2 ** (Math.floor(Math.log2(Math.max(...magnitudes))) - 10);
}
