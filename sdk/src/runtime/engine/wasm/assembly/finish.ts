/** What becomes of the integer products; see `scaled`. */
export const LINEAR: i32 = 0;
export const SCORES: i32 = 1;
export const CONTEXT: i32 = 2;

/** Columns of a tile: two vectors. */
export const COLUMNS: i32 = 8;

/** [rows] of {scale: f32, zero: i32, sum: i32, 0}, where sum is Σ a − k · zero. */
const ROW_BYTES: usize = 16;

/** Stores `count` rows of a tile's sums, scaled: a0 and a1 are the first row's, f0 and f1 the sixth's. */
// @ts-ignore: decorator
@inline
export function finish(
  form: i32,
  count: i32,
  a0: v128,
  a1: v128,
  b0: v128,
  b1: v128,
  c0: v128,
  c1: v128,
  d0: v128,
  d1: v128,
  e0: v128,
  e1: v128,
  f0: v128,
  f1: v128,
  rows: usize,
  row: i32,
  scale: usize,
  zero: usize,
  sum: usize,
  bias: usize,
  out: usize,
  stride: i32,
  columns: i32,
): void {
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
function scaled(form: i32, x: v128, row: usize, scale: v128, zero: v128, sum: v128, bias: v128): v128 {
  if (form == SCORES) return x;
  const factor = f32x4.mul(v128.load32_splat(row), scale);
  if (form == CONTEXT) return f32x4.mul(f32x4.convert_i32x4_s(x), factor);
  const ofWeight = i32x4.mul(v128.load32_splat(row, 4), sum);
  const ofRow = i32x4.mul(v128.load32_splat(row, 8), zero);
  const whole = i32x4.sub(i32x4.sub(x, ofWeight), ofRow);
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(whole), factor), bias);
}
