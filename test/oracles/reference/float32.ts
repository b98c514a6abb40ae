import { NO_FRACTIONS } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";

/**
 * Rounds to float32. The reference kernels round after every operation, and their operations have the same order as in
 * the WebAssembly kernels. Therefore both compute the same bits.
 */
export const { fround } = Math;

/** Rounds to the nearest integer, ties to even, for |x| < 2²². WebAssembly's f32.nearest gives the same result. */
export const nearest = (x: number): number => fround(fround(x + NO_FRACTIONS) - NO_FRACTIONS);

/**
 * Computes c₀ + c₁x + c₂x² + … with Estrin's scheme: combines neighbouring coefficients with x, neighbouring results with
 * x², and so on. A processor can compute these independent parts at the same time.
 */
export function polynomial(coefficients: readonly number[], x: number): number {
  const [first = 0, ...others] = coefficients;
  if (others.length === 0) return first;
  const pairs: number[] = [];
  for (let i = 0; i < coefficients.length; i += 2) {
    const [even = 0, odd] = coefficients.slice(i, i + 2);
    pairs.push(odd === undefined ? even : fround(even + fround(odd * x)));
  }
  return polynomial(pairs, fround(x * x));
}

/** Number of sums that are computed side by side: four vectors of four lanes. */
const LANES = 16;

/**
 * Computes Σ term(i) for i < count in float32. Lane i mod 16 adds term(i). Then the second half of the lanes is added to
 * the first half, again and again, until one lane is left.
 */
export function sumInLanes(count: number, term: (index: number) => number): number {
  const lanes = new Float32Array(LANES);
  for (let i = 0; i < count; i++) lanes[i % LANES] = (lanes[i % LANES] as number) + fround(term(i));
  for (let half = LANES / 2; half >= 1; half /= 2) {
    for (let lane = 0; lane < half; lane++) lanes[lane] = (lanes[lane] as number) + (lanes[lane + half] as number);
  }
  return lanes[0] as number;
}
