import { exp } from "./exp.ts";
import { fround, polynomial } from "./float32.ts";

/** What becomes of one number. */
export type Activation = (x: number) => number;

/**
 * Φ(x) ≈ ½ + x · P(x²) with P a polynomial of the seventh degree, for |x| ≤ limit; at the limits and beyond it is 0 and 1 to
 * the last bit. The coefficients, lowest power first, have the least greatest error of x · Φ(x) (Lawson's iteration).
 */
function normal(limit: number, coefficients: readonly number[]): (x: number) => number {
  const bound = fround(limit);
  const rounded = coefficients.map(fround);
  return (x) => {
    const inside = Math.min(Math.max(x, -bound), bound);
    return fround(fround(polynomial(rounded, fround(inside * inside)) * inside) + 0.5);
  };
}

const standardNormal = normal(
  4.149933,
  [
    0.39849406480789185, -0.06557485461235046, 0.009323855862021446, -0.0009572345879860222, 6.778300303267315e-5,
    -3.103828930761665e-6, 8.191559430770212e-8, -9.399784284269685e-10,
  ],
);

const fastNormal = normal(
  4.049768,
  [
    0.39852944016456604, -0.0659407451748848, 0.00955999456346035, -0.0010169390588998795, 7.552374881925061e-5,
    -3.651868610177189e-6, 1.0208172795955761e-7, -1.241882485736312e-9,
  ],
);

/** x · Φ(x) to 9 · 10⁻⁵, https://arxiv.org/abs/1606.08415 */
export const gelu: Activation = (x) => fround(x * standardNormal(x));

/** x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) to 8 · 10⁻⁵, ibid. */
export const fastGelu: Activation = (x) => fround(x * fastNormal(x));

export const sigmoid: Activation = (x) => fround(1 / fround(1 + exp(-x)));

/** 2 · sigmoid(2x) − 1 */
export const tanh: Activation = (x) => fround(fround(2 * sigmoid(fround(2 * x))) - 1);

export const relu: Activation = (x) => Math.max(x, 0);

/** x · sigmoid(α · x): α = 1 is SiLU, α = 1.702 quick GELU. */
export const sigmoidUnit =
  (alpha: number): Activation =>
  (x) =>
    fround(x * sigmoid(fround(fround(alpha) * x)));
