import { MIN_NORM } from "../constants/arithmetic";

/**
 * Computes the mean of every column. If the width is not a multiple of 4, the last four columns overlap the four before.
 *
 * @param x f32 [rows, width]; width is at least 4
 * @param out f32 [width]
 */
export function poolMeanF32(x: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  const count = f32x4.splat(<f32>rows);
  for (let next: usize = 0; next < bytes; next += 16) {
    const i = min(next, bytes - 16);
    let sum = f32x4.splat(0);
    let p = x + i;
    for (let row = 0; row < rows; row++, p += bytes) sum = f32x4.add(sum, v128.load(p));
    v128.store(out + i, f32x4.div(sum, count));
  }
}

/** Computes the maximum of every column. Takes the same parameters as poolMeanF32. */
export function poolMaxF32(x: usize, rows: i32, width: i32, out: usize): void {
  const bytes = <usize>width << 2;
  for (let next: usize = 0; next < bytes; next += 16) {
    const i = min(next, bytes - 16);
    let p = x + i;
    let maximum = v128.load(p);
    for (let row = 1; row < rows; row++) maximum = f32x4.max(maximum, v128.load((p += bytes)));
    v128.store(out + i, maximum);
  }
}

/**
 * Divides x f32 [width] by its Euclidean norm, in place; width is a multiple of 2. Computes the norm in float64, in which
 * the squares neither overflow nor underflow.
 */
export function normalizeF32(x: usize, width: i32): void {
  const end = x + (<usize>width << 2);
  let sums = f64x2.splat(0);
  for (let p = x; p < end; p += 8) sums = f64x2.add(sums, f64x2.mul(pair(p), pair(p)));
  const norm = max(sqrt<f64>(f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1)), <f64>MIN_NORM);
  const divisor = f64x2.splat(norm);
  for (let p = x; p < end; p += 8) v128.store64_lane(p, f32x4.demote_f64x2_zero(f64x2.div(pair(p), divisor)), 0);
}

// @ts-ignore: decorator
@inline
function pair(p: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(p));
}
