import { exp } from "./exp.ts";
import { fround, polynomial } from "./float32.ts";

/** What becomes of one number. */
export type Activation = (x: number) => number;

/**
 * Φ(x) ≈ ½ + x · P(x²) with P a polynomial of the eighth degree, for |x| ≤ limit; beyond it is that of the limit, which is
 * next to 0 or 1. Coefficients of the least greatest error of x · Φ(x), found by Lawson's iteration, lowest power first.
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
  4.4,
  [
    0.39876142144203186, -0.0660761222243309, 0.009642853401601315, -0.0010549445869401097, 8.428573346463963e-5,
    -4.7242228902177885e-6, 1.7405159269401338e-7, -3.7531333596518834e-9, 3.568377884843876e-11,
  ],
);

const fastNormal = normal(
  4.2,
  [
    0.39885208010673523, -0.06655646860599518, 0.009961305186152458, -0.0011438271030783653, 9.778238018043339e-5,
    -5.932054136792431e-6, 2.3777931801305385e-7, -5.588074891704764e-9, 5.792238216839607e-11,
  ],
);

/** x · Φ(x) to 7 · 10⁻⁵, https://arxiv.org/abs/1606.08415 */
export const gelu: Activation = (x) => fround(x * standardNormal(x));

/** x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) to 4 · 10⁻⁵, ibid. */
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
