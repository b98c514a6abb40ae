import { MIN_EXTENT, NO_FRACTIONS_BITS } from "../constants/arithmetic";
import { ROW_PARAMETERS, ROW_SCALE, ROW_SUM, ROW_ZERO_POINT } from "../constants/memory";
import { dot, integerSumOf, maxOfPositives, narrow, nearestInteger, nearestOf, rounding } from "./simd";

/**
 * Quantizes rows to signed bytes, with a scale and a zero point per row. The range of a row always includes zero.
 *
 * @param x f32 [rows, width]; width is a multiple of 4
 * @param factors f32 [width]: multiplies each row before it is quantized; 0 for none
 * @param out i8 [rows, width]
 * @param params [rows] of {scale: f32, zero point: i32, Σ out − width · zero point: i32, unused}
 */
export function quantizeRowsInt8(x: usize, factors: usize, rows: i32, width: i32, out: usize, params: usize): void {
  if (!factors) return quantizeColumnsInt8(x, width, rows, width, out, params);
  for (let row = 0; row < rows; row++) {
    quantizeRow(true, x, factors, width, out, params);
    x += <usize>width << 2;
    out += width;
    params += ROW_PARAMETERS;
  }
}

/**
 * Quantizes some columns of rows, like quantizeRowsInt8.
 *
 * @param x f32 [rows, stride]; reads `width` numbers of each row; width is a multiple of 4
 * @param out i8 [rows, width]
 */
export function quantizeColumnsInt8(x: usize, stride: i32, rows: i32, width: i32, out: usize, params: usize): void {
  for (let row = 0; row < rows; row++) {
    quantizeRow(false, x, 0, width, out, params);
    x += <usize>stride << 2;
    out += width;
    params += ROW_PARAMETERS;
  }
}

// @ts-ignore: decorator
@inline
function quantizeRow(isScaled: bool, x: usize, factors: usize, width: i32, out: usize, params: usize): void {
  const end = x + (<usize>width << 2);
  // The bits of the numbers are compared as integers. This orders numbers of the same sign by magnitude, with NaN above all
  // numbers.
  let low = i32x4.splat(i32.MIN_VALUE);
  let high = i32x4.splat(0);
  let low1 = low;
  let high1 = high;
  const ahead = factors - x;
  let p = x;
  for (; p + 32 <= end; p += 32) {
    const a = four(isScaled, p, ahead);
    const b = four(isScaled, p + 16, ahead);
    low = i32x4.max_u(low, a);
    high = i32x4.max_s(high, a);
    low1 = i32x4.max_u(low1, b);
    high1 = i32x4.max_s(high1, b);
  }
  if (p < end) {
    const a = four(isScaled, p, ahead);
    low = i32x4.max_u(low, a);
    high = i32x4.max_s(high, a);
  }
  const lowest = -maxOfPositives(f32x4.neg(i32x4.max_u(low, low1)));
  let extent = maxOfPositives(i32x4.max_s(high, high1)) - lowest;
  if (extent < <f32>MIN_EXTENT) extent = <f32>MIN_EXTENT;
  const inverse: f32 = 255 / extent;
  const zero = nearestOf(-128 - lowest * inverse);
  const total = scaleRow(isScaled, x, end, ahead, out, inverse, zero);
  store<f32>(params, extent / 255, ROW_SCALE);
  store<i32>(params, zero, ROW_ZERO_POINT);
  store<i32>(params, total - width * zero, ROW_SUM);
}

/** Returns the four numbers at `p`. If `isScaled` is true, multiplies them by the four factors at `p + ahead`. */
// @ts-ignore: decorator
@inline
function four(isScaled: bool, p: usize, ahead: usize): v128 {
  return isScaled ? f32x4.mul(v128.load(p), v128.load(p + ahead)) : v128.load(p);
}

/**
 * Returns round(x · factor) + zero point. `by` is the result of rounding(). Adding `by` rounds the product. The bits of
 * the sum are then the rounded integer plus NO_FRACTIONS_BITS. `shift` is the zero point minus NO_FRACTIONS_BITS.
 */
// @ts-ignore: decorator
@inline
function shifted(x: v128, factor: v128, by: v128, shift: v128): v128 {
  return i32x4.add(f32x4.add(f32x4.mul(x, factor), by), shift);
}

/** Quantizes one row. @returns the sum of the quantized numbers */
// @ts-ignore: decorator
@inline
function scaleRow(isScaled: bool, x: usize, end: usize, ahead: usize, out: usize, inverse: f32, zero: i32): i32 {
  const factor = f32x4.splat(inverse);
  const by = rounding();
  const shift = i32x4.splat(zero - NO_FRACTIONS_BITS);
  const ones = i8x16.splat(1);
  let sums = i32x4.splat(0);
  let p = x;
  for (; p + 64 <= end; p += 64, out += 16) {
    const bytes = narrow(
      shifted(four(isScaled, p, ahead), factor, by, shift),
      shifted(four(isScaled, p + 16, ahead), factor, by, shift),
      shifted(four(isScaled, p + 32, ahead), factor, by, shift),
      shifted(four(isScaled, p + 48, ahead), factor, by, shift),
    );
    v128.store(out, bytes);
    sums = dot(bytes, ones, sums);
  }
  for (; p < end; p += 16, out += 4) {
    const whole = shifted(four(isScaled, p, ahead), factor, by, shift);
    const bytes = v128.and(narrow(whole, whole, whole, whole), i32x4(-1, 0, 0, 0));
    v128.store32_lane(out, bytes, 0);
    sums = dot(bytes, ones, sums);
  }
  return integerSumOf(sums);
}

/**
 * Quantizes rows to −127…127, with a scale per row.
 *
 * @param x f32 [rows, stride]; reads `width` numbers of each row; width is a multiple of 4
 * @param factor the scales are multiplied by this number before they are stored
 * @param out i8 [rows, width]
 * @param params [rows] of {scale: f32, …}; only the scale is written
 */
export function quantizeSymmetricInt8(
  x: usize,
  stride: i32,
  rows: i32,
  width: i32,
  factor: f32,
  out: usize,
  params: usize,
): void {
  const whole = width & ~15;
  const by = rounding();
  for (let row = 0; row < rows; row++) {
    let peaks = f32x4.splat(<f32>MIN_EXTENT);
    for (let i = 0; i < width; i += 4) peaks = i32x4.max_s(peaks, f32x4.abs(v128.load(x + (i << 2))));
    const peak = maxOfPositives(peaks);
    const inverse = f32x4.splat(127 / peak);
    let i = 0;
    for (; i < whole; i += 16) {
      const p = x + (i << 2);
      const bytes = narrow(
        nearestInteger(f32x4.mul(v128.load(p), inverse), by),
        nearestInteger(f32x4.mul(v128.load(p, 16), inverse), by),
        nearestInteger(f32x4.mul(v128.load(p, 32), inverse), by),
        nearestInteger(f32x4.mul(v128.load(p, 48), inverse), by),
      );
      v128.store(out + i, bytes);
    }
    for (; i < width; i += 4) {
      const four = nearestInteger(f32x4.mul(v128.load(x + (i << 2)), inverse), by);
      v128.store32_lane(out + i, narrow(four, four, four, four), 0);
    }
    store<f32>(params, (peak / 127) * factor);
    x += stride << 2;
    out += width;
    params += ROW_PARAMETERS;
  }
}
