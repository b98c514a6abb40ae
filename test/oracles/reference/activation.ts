import * as c from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { exp } from "./exp.ts";
import { fround, polynomial } from "./float32.ts";

/** An activation function of one float32 number. */
export type ActivationFunction = (x: number) => number;

/** Returns the function max(x, 0) − t · P(t) with t = min(|x|, limit). P is the polynomial with `coefficients`. */
function belowRectifier(limit: number, coefficients: readonly number[]): ActivationFunction {
  const bound = fround(limit);
  const rounded = coefficients.map(fround);
  return (x) => {
    const t = Math.min(Math.abs(x), bound);
    return fround(Math.max(x, 0) - fround(polynomial(rounded, t) * t));
  };
}

/** GELU, x · Φ(x), with an error of at most 9 · 10⁻⁵. */
export const gelu = belowRectifier(c.GELU_LIMIT, [
  c.GELU_P0,
  c.GELU_P1,
  c.GELU_P2,
  c.GELU_P3,
  c.GELU_P4,
  c.GELU_P5,
  c.GELU_P6,
  c.GELU_P7,
  c.GELU_P8,
]);

/** The tanh approximation of GELU, x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), with an error of at most 7 · 10⁻⁵. */
export const fastGelu = belowRectifier(c.FAST_GELU_LIMIT, [
  c.FAST_GELU_P0,
  c.FAST_GELU_P1,
  c.FAST_GELU_P2,
  c.FAST_GELU_P3,
  c.FAST_GELU_P4,
  c.FAST_GELU_P5,
  c.FAST_GELU_P6,
  c.FAST_GELU_P7,
  c.FAST_GELU_P8,
]);

export const sigmoid: ActivationFunction = (x) => fround(1 / fround(1 + exp(-x)));

/** Computes tanh(x) = 2 · sigmoid(2x) − 1. */
export const tanh: ActivationFunction = (x) => fround(fround(2 * sigmoid(fround(2 * x))) - 1);

export const relu: ActivationFunction = (x) => Math.max(x, 0);

/** Returns the function x · sigmoid(α · x). α = 1 is SiLU, α = 1.702 is quick GELU. */
export const swish =
  (alpha: number): ActivationFunction =>
  (x) =>
    fround(x * sigmoid(fround(fround(alpha) * x)));
