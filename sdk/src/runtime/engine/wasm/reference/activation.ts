import { exp } from "./exp.ts";
import { fround, polynomial } from "./float32.ts";

/** What becomes of one number. */
export type Activation = (x: number) => number;

/**
 * max(x, 0) − t · P(t) of t = min(|x|, limit), where P has degree 8: what a GELU lies below the rectifier is the same for x
 * and −x. P is ½ at 0, as the slope there, and 0 at the limit, to the last bit; the other coefficients, lowest power first,
 * have the least greatest error (Lawson's iteration).
 */
function belowRectifier(limit: number, coefficients: readonly number[]): Activation {
  const bound = fround(limit);
  const rounded = coefficients.map(fround);
  return (x) => {
    const t = Math.min(Math.abs(x), bound);
    return fround(Math.max(x, 0) - fround(polynomial(rounded, t) * t));
  };
}

/** x · Φ(x) to 9 · 10⁻⁵, https://arxiv.org/abs/1606.08415 */
export const gelu = belowRectifier(
  4.1599955558776855,
  [
    0.5, -0.39423221349716187, -0.020834000781178474, 0.09897705167531967, -0.020844843238592148, -0.0080620888620615,
    0.004289180971682072, -0.0007115280022844672, 4.206572339171544e-5,
  ],
);

/** x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) to 7 · 10⁻⁵, ibid. */
export const fastGelu = belowRectifier(
  4.0399980545043945,
  [
    0.5, -0.3950502574443817, -0.017751216888427734, 0.09523866325616837, -0.01841670274734497, -0.009086916223168373,
    0.004570500925183296, -0.0007554974872618914, 4.495126268011518e-5,
  ],
);

export const sigmoid: Activation = (x) => fround(1 / fround(1 + exp(-x)));

/** 2 · sigmoid(2x) − 1 */
export const tanh: Activation = (x) => fround(fround(2 * sigmoid(fround(2 * x))) - 1);

export const relu: Activation = (x) => Math.max(x, 0);

/** x · sigmoid(α · x): α = 1 is SiLU, α = 1.702 quick GELU. */
export const sigmoidUnit =
  (alpha: number): Activation =>
  (x) =>
    fround(x * sigmoid(fround(fround(alpha) * x)));
