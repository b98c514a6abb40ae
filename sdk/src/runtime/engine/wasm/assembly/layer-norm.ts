import { sumOf } from "./simd";

/**
 * (s − mean) / √(variance + epsilon) · γ + β of every row of s = x + skip
 *
 * @param x f32 [rows, width], width a multiple of 4
 * @param skip f32 [rows, width]; 0 for none
 * @param beta 0 for none
 * @param total f32 [rows, width], where s is left; may be out
 */
export function layerNorm(
  x: usize,
  skip: usize,
  gamma: usize,
  beta: usize,
  rows: i32,
  width: i32,
  epsilon: f32,
  total: usize,
  out: usize,
): void {
  const bytes = <usize>width << 2;
  for (let row = 0; row < rows; row++) {
    const sum = skip ? addRow(x, skip, bytes, total) : x;
    normaliseRow(sum, bytes, width, gamma, beta, epsilon, out);
    x += bytes;
    if (skip) skip += bytes;
    total += bytes;
    out += bytes;
  }
}

// @ts-ignore: decorator
@inline
function addRow(x: usize, skip: usize, bytes: usize, total: usize): usize {
  for (let i: usize = 0; i < bytes; i += 16) v128.store(total + i, f32x4.add(v128.load(x + i), v128.load(skip + i)));
  return total;
}

// @ts-ignore: decorator
@inline
function normaliseRow(x: usize, bytes: usize, width: i32, gamma: usize, beta: usize, epsilon: f32, out: usize): void {
  const mean = sumOfRow(x, bytes, f32x4.splat(0), false) / <f32>width;
  const centre = f32x4.splat(mean);
  const variance = sumOfRow(x, bytes, centre, true) / <f32>width;
  const inverse: f32 = 1 / sqrt<f32>(variance + epsilon);
  const factor = f32x4.splat(inverse);
  for (let i: usize = 0; i < bytes; i += 16) {
    const scaled = f32x4.mul(f32x4.mul(f32x4.sub(v128.load(x + i), centre), factor), v128.load(gamma + i));
    v128.store(out + i, beta ? f32x4.add(scaled, v128.load(beta + i)) : scaled);
  }
}

/** Σ x, or Σ (x − centre)²: sixteen sums side by side, which are then added pairwise, halves first. */
// @ts-ignore: decorator
@inline
function sumOfRow(x: usize, bytes: usize, centre: v128, squared: bool): f32 {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  const end = x + bytes;
  let p = x;
  for (; p + 64 <= end; p += 64) {
    a = f32x4.add(a, term(v128.load(p), centre, squared));
    b = f32x4.add(b, term(v128.load(p, 16), centre, squared));
    c = f32x4.add(c, term(v128.load(p, 32), centre, squared));
    d = f32x4.add(d, term(v128.load(p, 48), centre, squared));
  }
  if (p < end) a = f32x4.add(a, term(v128.load(p), centre, squared));
  if (p + 16 < end) b = f32x4.add(b, term(v128.load(p, 16), centre, squared));
  if (p + 32 < end) c = f32x4.add(c, term(v128.load(p, 32), centre, squared));
  return sumOf(f32x4.add(f32x4.add(a, c), f32x4.add(b, d)));
}

// @ts-ignore: decorator
@inline
function term(x: v128, centre: v128, squared: bool): v128 {
  if (!squared) return x;
  const distance = f32x4.sub(x, centre);
  return f32x4.mul(distance, distance);
}
