import { sumOf } from "./simd";

/**
 * Computes x · wᵀ + bias in float32, for the few outputs of a classifier.
 *
 * @param x f32 [rows, k]; k is a multiple of 4
 * @param w f32 [n, k]
 * @param bias f32 [n]
 * @param out f32 [rows, n]
 */
export function gemvF32(x: usize, rows: i32, k: i32, w: usize, bias: usize, n: i32, out: usize): void {
  const bytes = <usize>k << 2;
  for (let row = 0; row < rows; row++, x += bytes) {
    let q = w;
    for (let column = 0; column < n; column++, q += bytes, out += 4) store<f32>(out, product(x, q, bytes) + load<f32>(bias + (column << 2)));
  }
}

/**
 * Computes Σ x·y in sixteen lanes. Then the second half of the lanes is added to the first half, again and again, until one
 * sum is left.
 */
// @ts-ignore: decorator
@inline
function product(x: usize, y: usize, bytes: usize): f32 {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let i: usize = 0;
  for (; i + 64 <= bytes; i += 64) {
    a = f32x4.add(a, f32x4.mul(v128.load(x + i), v128.load(y + i)));
    b = f32x4.add(b, f32x4.mul(v128.load(x + i, 16), v128.load(y + i, 16)));
    c = f32x4.add(c, f32x4.mul(v128.load(x + i, 32), v128.load(y + i, 32)));
    d = f32x4.add(d, f32x4.mul(v128.load(x + i, 48), v128.load(y + i, 48)));
  }
  if (i < bytes) a = f32x4.add(a, f32x4.mul(v128.load(x + i), v128.load(y + i)));
  if (i + 16 < bytes) b = f32x4.add(b, f32x4.mul(v128.load(x + i, 16), v128.load(y + i, 16)));
  if (i + 32 < bytes) c = f32x4.add(c, f32x4.mul(v128.load(x + i, 32), v128.load(y + i, 32)));
  return sumOf(f32x4.add(f32x4.add(a, c), f32x4.add(b, d)));
}
