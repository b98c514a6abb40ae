import { exp } from "./exp";

/*
 * Elementwise activations. test/oracles/reference/activation.ts has the formulas.
 *
 *   x    f32 [rows, stride]; reads `width` numbers of each row; width is a multiple of 4
 *   out  f32 [rows, width]
 */
const RELU: i32 = 0;
const TANH: i32 = 1;
const SIGMOID: i32 = 2;
const SWISH: i32 = 3;

export function reluF32(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(RELU, x, stride, rows, width, out, 0);
}

export function tanhF32(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(TANH, x, stride, rows, width, out, 0);
}

export function sigmoidF32(x: usize, stride: i32, rows: i32, width: i32, out: usize): void {
  each(SIGMOID, x, stride, rows, width, out, 0);
}

export function swishF32(x: usize, stride: i32, rows: i32, width: i32, out: usize, alpha: f32): void {
  each(SWISH, x, stride, rows, width, out, alpha);
}

// @ts-ignore: decorator
@inline
function each(kind: i32, x: usize, stride: i32, rows: i32, width: i32, out: usize, alpha: f32): void {
  const skipped = (stride - width) << 2;
  for (let row = 0; row < rows; row++, x += skipped) {
    for (const end = x + (width << 2); x < end; x += 16, out += 16) v128.store(out, applied(kind, v128.load(x), alpha));
  }
}

// @ts-ignore: decorator
@inline
function applied(kind: i32, x: v128, alpha: f32): v128 {
  if (kind == RELU) return f32x4.max(x, f32x4.splat(0));
  if (kind == SIGMOID) return sigmoidOf(x);
  if (kind == SWISH) return f32x4.mul(x, sigmoidOf(f32x4.mul(f32x4.splat(alpha), x)));
  const two = f32x4.splat(2);
  return f32x4.sub(f32x4.mul(two, sigmoidOf(f32x4.mul(two, x))), f32x4.splat(1));
}

// @ts-ignore: decorator
@inline
function sigmoidOf(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))));
}
