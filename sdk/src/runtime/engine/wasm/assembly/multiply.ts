import { dot } from "./simd";

/** What becomes of the integer products; see `finish`. */
const LINEAR: i32 = 0;
const SCORES: i32 = 1;
const CONTEXT: i32 = 2;

/** Columns of a tile: two vectors. */
const COLUMNS: i32 = 8;
/** Rows of a tile: with two columns vectors, all that 16 registers hold. */
const ROWS: i32 = 6;
/** Rows after which the next columns are taken: what fits the nearest cache. */
const BLOCK: i32 = 24;

/** [rows] of {scale: f32, zero: i32, sum: i32, 0}, where sum is Σ a − k · zero. */
const ROW_BYTES: usize = 16;


/**
 * (Σ a·w − zeroₐ Σ w − zero_w (Σ a − k·zeroₐ)) · scaleₐ · scale_w + bias
 *
 * @param a i8 [m, k]
 * @param w u7 [n/8, k/4, 8, 4]
 * @param k a multiple of 4
 * @param out f32 [m, stride]
 */
export function multiply(
  a: usize,
  rows: usize,
  m: i32,
  k: i32,
  w: usize,
  scale: usize,
  zero: usize,
  sum: usize,
  bias: usize,
  n: i32,
  out: usize,
  stride: i32,
): void {
  for (let from = 0; from < m; from += BLOCK) {
    const to = min(from + BLOCK, m);
    for (let column = 0; column < n; column += COLUMNS) {
      const at = <usize>column << 2;
      panel(LINEAR, a, rows, from, to, k, w + <usize>column * k, scale + at, zero + at, sum + at, bias + at, out + at, stride, n - column);
    }
  }
}

/**
 * Σ q·k of some queries
 *
 * @param a i8 [m, k], queries
 * @param w u7 [n/8, k/4, 8, 4], keys
 * @param n a multiple of 8
 * @param out i32 [m, stride]
 */
export function multiplyScores(a: usize, m: i32, k: i32, w: usize, n: i32, out: usize, stride: i32): void {
  for (let column = 0; column < n; column += COLUMNS) {
    const at = <usize>column << 2;
    panel(SCORES, a, 0, 0, m, k, w + <usize>column * k, 0, 0, 0, 0, out + at, stride, COLUMNS);
  }
}

/**
 * Σ p·v · scale_p · scaleᵥ of at most 24 queries
 *
 * @param a u7 [m, k], numerators
 * @param w i8 [n/8, k/4, 8, 4], values
 * @param out f32 [m, stride]
 */
export function multiplyContext(
  a: usize,
  rows: usize,
  m: i32,
  k: i32,
  w: usize,
  scale: usize,
  n: i32,
  out: usize,
  stride: i32,
): void {
  for (let column = 0; column < n; column += COLUMNS) {
    const at = <usize>column << 2;
    panel(CONTEXT, a, rows, 0, m, k, w + <usize>column * k, scale + at, 0, 0, 0, out + at, stride, n - column);
  }
}

// @ts-ignore: decorator
@inline
function panel(
  form: i32,
  a: usize,
  rows: usize,
  from: i32,
  to: i32,
  k: i32,
  w: usize,
  scale: usize,
  zero: usize,
  sum: usize,
  bias: usize,
  out: usize,
  stride: i32,
  columns: i32,
): void {
  let row = from;
  while (row < to) {
    const count = rowsOf(to - row);
    switch (count) {
      case 6:
        tile(form, 6, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
        break;
      case 5:
        tile(form, 5, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
        break;
      case 4:
        tile(form, 4, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
        break;
      case 3:
        tile(form, 3, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
        break;
      case 2:
        tile(form, 2, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
        break;
      default:
        tile(form, 1, a, rows, row, k, w, scale, zero, sum, bias, out, stride, columns);
    }
    row += count;
  }
}

/** Of a tile, where so many rows are left: tiles of fewer than four leave the processor waiting for its own sums. */
// @ts-ignore: decorator
@inline
function rowsOf(left: i32): i32 {
  return left <= ROWS ? left : left < 11 ? (left + 1) >> 1 : ROWS;
}

/** `count` rows by eight columns. */
// @ts-ignore: decorator
@inline
function tile(
  form: i32,
  count: i32,
  a: usize,
  rows: usize,
  row: i32,
  k: i32,
  w: usize,
  scale: usize,
  zero: usize,
  sum: usize,
  bias: usize,
  out: usize,
  stride: i32,
  columns: i32,
): void {
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let b0 = a0;
  let b1 = a0;
  let c0 = a0;
  let c1 = a0;
  let d0 = a0;
  let d1 = a0;
  let e0 = a0;
  let e1 = a0;
  let f0 = a0;
  let f1 = a0;
  const to2 = <usize>k * 2;
  const to3 = <usize>k * 3;
  const to4 = <usize>k * 4;
  const to5 = <usize>k * 5;
  let p = a + <usize>row * k;
  const end = p + k;
  for (let q = w; p < end; p += 4, q += 32) {
    const w0 = v128.load(q);
    const w1 = v128.load(q, 16);
    let x = v128.load32_splat(p);
    a0 = product(form, x, w0, a0);
    a1 = product(form, x, w1, a1);
    if (count > 1) {
      x = v128.load32_splat(p + k);
      b0 = product(form, x, w0, b0);
      b1 = product(form, x, w1, b1);
    }
    if (count > 2) {
      x = v128.load32_splat(p + to2);
      c0 = product(form, x, w0, c0);
      c1 = product(form, x, w1, c1);
    }
    if (count > 3) {
      x = v128.load32_splat(p + to3);
      d0 = product(form, x, w0, d0);
      d1 = product(form, x, w1, d1);
    }
    if (count > 4) {
      x = v128.load32_splat(p + to4);
      e0 = product(form, x, w0, e0);
      e1 = product(form, x, w1, e1);
    }
    if (count > 5) {
      x = v128.load32_splat(p + to5);
      f0 = product(form, x, w0, f0);
      f1 = product(form, x, w1, f1);
    }
  }
  const params = rows + <usize>row * ROW_BYTES;
  const step = <usize>stride << 2;
  const to = out + <usize>row * step;
  const whole = columns >= COLUMNS;
  half(form, count, a0, b0, c0, d0, e0, f0, params, scale, zero, sum, bias, whole ? to : TAIL, whole ? step : 32);
  half(form, count, a1, b1, c1, d1, e1, f1, params, scale + 16, zero + 16, sum + 16, bias + 16, (whole ? to : TAIL) + 16, whole ? step : 32);
  if (!whole) for (let i = 0; i < count; i++) memory.copy(to + i * step, TAIL + (i << 5), <usize>columns << 2);
}

/** Where rows of which not all columns are wanted go first. */
const TAIL: usize = memory.data(192, 16);

/** Four of a tile's columns: their parameters are loaded once. */
// @ts-ignore: decorator
@inline
function half(
  form: i32,
  count: i32,
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  row: usize,
  scale: usize,
  zero: usize,
  sum: usize,
  bias: usize,
  out: usize,
  step: usize,
): void {
  const factor = form == SCORES ? i32x4.splat(0) : v128.load(scale);
  const zeros = form == LINEAR ? v128.load(zero) : factor;
  const sums = form == LINEAR ? v128.load(sum) : factor;
  const offset = form == LINEAR ? v128.load(bias) : factor;
  v128.store(out, scaled(form, a, row, factor, zeros, sums, offset));
  if (count > 1) v128.store((out += step), scaled(form, b, (row += ROW_BYTES), factor, zeros, sums, offset));
  if (count > 2) v128.store((out += step), scaled(form, c, (row += ROW_BYTES), factor, zeros, sums, offset));
  if (count > 3) v128.store((out += step), scaled(form, d, (row += ROW_BYTES), factor, zeros, sums, offset));
  if (count > 4) v128.store((out += step), scaled(form, e, (row += ROW_BYTES), factor, zeros, sums, offset));
  if (count > 5) v128.store((out += step), scaled(form, f, (row += ROW_BYTES), factor, zeros, sums, offset));
}

// @ts-ignore: decorator
@inline
function product(form: i32, x: v128, w: v128, sum: v128): v128 {
  return form == CONTEXT ? dot(w, x, sum) : dot(x, w, sum);
}

// @ts-ignore: decorator
@inline
function scaled(form: i32, x: v128, row: usize, scale: v128, zero: v128, sum: v128, bias: v128): v128 {
  if (form == SCORES) return x;
  const factor = f32x4.mul(v128.load32_splat(row), scale);
  if (form == CONTEXT) return f32x4.mul(f32x4.convert_i32x4_s(x), factor);
  const ofWeight = i32x4.mul(v128.load32_splat(row, 4), sum);
  const ofRow = i32x4.mul(v128.load32_splat(row, 8), zero);
  const whole = i32x4.sub(i32x4.sub(x, ofWeight), ofRow);
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(whole), factor), bias);
}
