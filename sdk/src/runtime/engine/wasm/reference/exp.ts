import { fround, nearest, polynomial } from "./float32.ts";

// eˣ = 2ⁿ · eʳ with n = round(x / ln 2) and |r| ≤ ½ ln 2; Cephes' expf, https://www.netlib.org/cephes/

/** ln 2 as the sum of a number of few bits, whose product with n is exact, and what is missing of it. */
const [LN2_HIGH, LN2_LOW] = [0.693359375, fround(-2.1219444e-4)];
export const LOG2_E = fround(Math.LOG2E);
/** Least to highest power: the coefficient of rⁱ⁺² in eʳ. */
const COEFFICIENTS = [
  5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.98756915e-4,
].map(fround);
/** Between these 2ⁿ is a normal number. */
const LEAST = -87;
const GREATEST = 88;
/** 2ⁿ at n + 126. */
const POWERS = Float32Array.from({ length: 254 }, (_, i) => 2 ** (i - 126));

/** eˣ in float32, −87 ≤ x ≤ 88; numbers beyond count as these. At most 1 in 2²³ off. */
export function exp(x: number): number {
  const limited = Math.min(Math.max(x, LEAST), GREATEST);
  const n = nearest(fround(limited * LOG2_E));
  const r = fround(fround(limited - fround(n * LN2_HIGH)) - fround(n * LN2_LOW));
  const squared = fround(fround(polynomial(COEFFICIENTS, r) * r) * r);
  return fround(fround(fround(squared + r) + 1) * (POWERS[n + 126] as number));
}
