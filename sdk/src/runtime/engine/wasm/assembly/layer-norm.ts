import { sumOf } from "./simd";

/**
 * Computes (s − mean) / √(variance + epsilon) · γ + β for every row of s = x + skip.
 *
 * @param x f32 [rows, width]; width is a multiple of 4
 * @param skip f32 [rows, width]; 0 for none
 * @param beta f32 [width]; 0 for none
 * @param total f32 [rows, width]: receives s if there is a skip; may be the same address as `out`
 */
export function layerNormF32(
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
  normalizeRows(true, x, skip, gamma, beta, rows, width, epsilon, total, out);
}

/**
 * Computes s / √(mean(s²) + epsilon) · γ for every row of s = x + skip. Takes the operands of layerNormF32, without beta.
 */
export function rmsNormF32(
  x: usize,
  skip: usize,
  gamma: usize,
  rows: i32,
  width: i32,
  epsilon: f32,
  total: usize,
  out: usize,
): void {
  normalizeRows(false, x, skip, gamma, 0, rows, width, epsilon, total, out);
}

function normalizeRows(
  isCentred: bool,
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
    let mean: f32 = 0;
    if (skip) mean = rowSum(ADDED, x, bytes, f32x4.splat(0), skip, total) / <f32>width;
    else if (isCentred) mean = rowSum(PLAIN, x, bytes, f32x4.splat(0), 0, 0) / <f32>width;
    if (!isCentred) mean = 0;
    normalizeRow(skip ? total : x, bytes, width, mean, gamma, beta, epsilon, out);
    x += bytes;
    if (skip) skip += bytes;
    total += bytes;
    out += bytes;
  }
}

// @ts-ignore: decorator
@inline
function normalizeRow(
  x: usize,
  bytes: usize,
  width: i32,
  mean: f32,
  gamma: usize,
  beta: usize,
  epsilon: f32,
  out: usize,
): void {
  const centre = f32x4.splat(mean);
  const variance = rowSum(SQUARED, x, bytes, centre, 0, 0) / <f32>width;
  const inverse: f32 = 1 / sqrt<f32>(variance + epsilon);
  const factor = f32x4.splat(inverse);
  for (let i: usize = 0; i < bytes; i += 16) {
    const scaled = f32x4.mul(f32x4.mul(f32x4.sub(v128.load(x + i), centre), factor), v128.load(gamma + i));
    v128.store(out + i, beta ? f32x4.add(scaled, v128.load(beta + i)) : scaled);
  }
}

/** Kinds of numbers that rowSum adds up: x, x + skip (also stored in `total`), or squared distances from `centre`. */
const PLAIN: i32 = 0;
const ADDED: i32 = 1;
const SQUARED: i32 = 2;

/**
 * Sums a row in sixteen lanes. Then the second half of the lanes is added to the first half, again and again, until one sum
 * is left.
 */
// @ts-ignore: decorator
@inline
function rowSum(form: i32, x: usize, bytes: usize, centre: v128, skip: usize, total: usize): f32 {
  let a = f32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let i: usize = 0;
  for (; i + 64 <= bytes; i += 64) {
    a = f32x4.add(a, term(form, x + i, centre, skip + i, total + i));
    b = f32x4.add(b, term(form, x + i + 16, centre, skip + i + 16, total + i + 16));
    c = f32x4.add(c, term(form, x + i + 32, centre, skip + i + 32, total + i + 32));
    d = f32x4.add(d, term(form, x + i + 48, centre, skip + i + 48, total + i + 48));
  }
  if (i < bytes) a = f32x4.add(a, term(form, x + i, centre, skip + i, total + i));
  if (i + 16 < bytes) b = f32x4.add(b, term(form, x + i + 16, centre, skip + i + 16, total + i + 16));
  if (i + 32 < bytes) c = f32x4.add(c, term(form, x + i + 32, centre, skip + i + 32, total + i + 32));
  return sumOf(f32x4.add(f32x4.add(a, c), f32x4.add(b, d)));
}

// @ts-ignore: decorator
@inline
function term(form: i32, x: usize, centre: v128, skip: usize, total: usize): v128 {
  const value = v128.load(x);
  if (form == PLAIN) return value;
  if (form == ADDED) {
    const sum = f32x4.add(value, v128.load(skip));
    v128.store(total, sum);
    return sum;
  }
  const distance = f32x4.sub(value, centre);
  return f32x4.mul(distance, distance);
}
