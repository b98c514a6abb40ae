import {
  GEMM_BIAS,
  GEMM_N,
  GEMM_OUT,
  GEMM_ROW_PARAMETERS,
  GEMM_SCALES,
  GEMM_STRIDE,
  GEMM_SUMS,
  GEMM_ZERO_POINTS,
  ROW_PARAMETERS,
  ROW_SCALE,
  ROW_SUM,
  ROW_ZERO_POINT,
  TILE_TAIL,
} from "../constants/memory";

/** Forms of GEMM results: a linear layer's output, integer sums (scores), or scaled sums (context). See `scaled`. */
export const LINEAR: i32 = 0;
export const SCORES: i32 = 1;
export const CONTEXT: i32 = 2;

/**
 * Scales and stores the sums of `count` rows and four columns. `a` has the sums of the first row, `b` has the sums of
 * the second row, and so on. The columns' parameters are loaded once for all rows.
 */
// @ts-ignore: decorator
@inline
export function storeColumns(
  form: i32,
  count: i32,
  call: usize,
  row: i32,
  column: i32,
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
): void {
  // Scores always fill whole tiles.
  const left = form == SCORES ? 4 : load<i32>(call, GEMM_N) - column;
  if (left <= 0) return;
  const stride = <usize>load<i32>(call, GEMM_STRIDE) << 2;
  const result = load<usize>(call, GEMM_OUT) + <usize>row * stride + (<usize>column << 2);
  const whole = left >= 4;
  const next = whole ? stride : 16;
  let out = whole ? result : TILE_TAIL;
  let parameters = load<usize>(call, GEMM_ROW_PARAMETERS) + <usize>row * ROW_PARAMETERS;
  const scale = form == SCORES ? i32x4.splat(0) : columnsOf(call, GEMM_SCALES, column);
  const zero = form == LINEAR ? columnsOf(call, GEMM_ZERO_POINTS, column) : scale;
  const sum = form == LINEAR ? columnsOf(call, GEMM_SUMS, column) : scale;
  const bias = form == LINEAR ? columnsOf(call, GEMM_BIAS, column) : scale;
  v128.store(out, scaled(form, a, parameters, scale, zero, sum, bias));
  if (count > 1) v128.store((out += next), scaled(form, b, (parameters += ROW_PARAMETERS), scale, zero, sum, bias));
  if (count > 2) v128.store((out += next), scaled(form, c, (parameters += ROW_PARAMETERS), scale, zero, sum, bias));
  if (count > 3) v128.store((out += next), scaled(form, d, (parameters += ROW_PARAMETERS), scale, zero, sum, bias));
  if (count > 4) v128.store((out += next), scaled(form, e, (parameters += ROW_PARAMETERS), scale, zero, sum, bias));
  if (count > 5) v128.store((out += next), scaled(form, f, (parameters += ROW_PARAMETERS), scale, zero, sum, bias));
  if (!whole) for (let i = 0; i < count; i++) memory.copy(result + i * stride, TILE_TAIL + (i << 4), <usize>left << 2);
}

/** Loads four numbers of an array, from index `column` on. The array's address is stored at `call + field`. */
// @ts-ignore: decorator
@inline
function columnsOf(call: usize, field: usize, column: i32): v128 {
  return v128.load(load<usize>(call + field) + (<usize>column << 2));
}

// @ts-ignore: decorator
@inline
function scaled(form: i32, x: v128, parameters: usize, scale: v128, zero: v128, sum: v128, bias: v128): v128 {
  if (form == SCORES) return x;
  const factor = f32x4.mul(v128.load32_splat(parameters, ROW_SCALE), scale);
  if (form == CONTEXT) return f32x4.mul(f32x4.convert_i32x4_s(x), factor);
  const ofWeight = i32x4.mul(v128.load32_splat(parameters, ROW_ZERO_POINT), sum);
  const ofRow = i32x4.mul(v128.load32_splat(parameters, ROW_SUM), zero);
  const whole = i32x4.sub(i32x4.sub(x, ofWeight), ofRow);
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(whole), factor), bias);
}
