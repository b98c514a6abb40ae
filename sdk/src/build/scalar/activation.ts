import { exp } from "./exp.ts";
import { fround, polynomial } from "./float32.ts";

/** What becomes of one number. */
export type Activation = (x: number) => number;

/** √½ */
const SQRT1_2 = fround(Math.SQRT1_2);
/** Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: erf to 1.5 · 10⁻⁷. */
const P = fround(0.3275911);
const ERF = [0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429].map(fround);

/** erfc(z) for z ≥ 0 */
function complement(z: number): number {
  const t = fround(1 / fround(1 + fround(P * z)));
  return fround(fround(polynomial(ERF, t) * t) * exp(-fround(z * z)));
}

/** x · Φ(x), https://arxiv.org/abs/1606.08415 */
export const gelu: Activation = (x) => {
  const tail = fround(fround(0.5 * complement(Math.abs(fround(x * SQRT1_2)))) * x);
  return x > 0 ? fround(x - tail) : tail;
};

/** √(2/π) and its product with 0.044715 */
const [SLOPE, CUBIC] = [Math.sqrt(2 / Math.PI), Math.sqrt(2 / Math.PI) * 0.044715].map(fround) as [number, number];

/** x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) = x · sigmoid(2 · …), ibid. */
export const fastGelu: Activation = (x) => {
  const inner = fround(x * fround(SLOPE + fround(CUBIC * fround(x * x))));
  return fround(x * sigmoid(fround(2 * inner)));
};

export const sigmoid: Activation = (x) => fround(1 / fround(1 + exp(-x)));

/** 2 · sigmoid(2x) − 1 */
export const tanh: Activation = (x) => fround(fround(2 * sigmoid(fround(2 * x))) - 1);

export const relu: Activation = (x) => Math.max(x, 0);

/** x · sigmoid(α · x): α = 1 is SiLU, α = 1.702 quick GELU. */
export const sigmoidUnit =
  (alpha: number): Activation =>
  (x) =>
    fround(x * sigmoid(fround(fround(alpha) * x)));
