import { NO_FRACTIONS, NO_FRACTIONS_BITS } from "../constants/arithmetic";

/**
 * Multiplies the bytes of `a` and `b`, and adds four neighbouring products to each lane of `sum`. The bytes of `a` are
 * signed, and the bytes of `b` are between 0 and 127. In these ranges no 16-bit sum saturates, so the builds with and
 * without relaxed SIMD give the same result.
 */
// @ts-ignore: decorator
@inline
export function dot(a: v128, b: v128, sum: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return i32x4.relaxed_dot_i8x16_i7x16_add_s(a, b, sum);
  const low = i16x8.extmul_low_i8x16_s(a, b);
  const high = i16x8.extmul_high_i8x16_s(a, b);
  const even = v128.shuffle<i16>(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
  const odd = v128.shuffle<i16>(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
  return i32x4.add(sum, i32x4.extadd_pairwise_i16x8_s(i16x8.add(even, odd)));
}

/** Address of NO_FRACTIONS. The number is loaded from memory, because a literal would be built again at every use. */
const ROUNDING: usize = memory.data<f32>([<f32>NO_FRACTIONS]);

/** Returns NO_FRACTIONS in every lane. To round numbers, nearestInteger adds this vector to them and subtracts it again. */
// @ts-ignore: decorator
@inline
export function rounding(): v128 {
  return v128.load32_splat(ROUNDING);
}

/** Rounds to the nearest integers, ties to even, for |x| < 2²². `by` is the result of rounding(). */
// @ts-ignore: decorator
@inline
export function nearestInteger(x: v128, by: v128): v128 {
  return i32x4.sub(f32x4.add(x, by), by);
}

// @ts-ignore: decorator
@inline
export function nearestOf(x: f32): i32 {
  return reinterpret<i32>(x + <f32>NO_FRACTIONS) - NO_FRACTIONS_BITS;
}

/** Converts sixteen integers to bytes, limited to −128…127. */
// @ts-ignore: decorator
@inline
export function narrow(a: v128, b: v128, c: v128, d: v128): v128 {
  return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d));
}

/** Returns the sum of four lanes, added in the order (0 + 2) + (1 + 3). */
// @ts-ignore: decorator
@inline
export function sumOf(x: v128): f32 {
  const pairs = f32x4.add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

// @ts-ignore: decorator
@inline
export function integerSumOf(x: v128): i32 {
  const pairs = i32x4.add(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1);
}

/** Returns the maximum of four numbers; NaN when one is NaN. */
// @ts-ignore: decorator
@inline
export function maxOf(x: v128): f32 {
  const pairs = f32x4.max(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(f32x4.max(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 1, 0)), 0);
}

/** Returns the maximum of four numbers that are not negative; NaN when one is NaN. */
// @ts-ignore: decorator
@inline
export function maxOfPositives(x: v128): f32 {
  const pairs = i32x4.max_s(x, v128.shuffle<i32>(x, x, 2, 3, 0, 1));
  return f32x4.extract_lane(i32x4.max_s(pairs, v128.shuffle<i32>(pairs, pairs, 1, 0, 1, 0)), 0);
}

/** Multiplies 16-bit integers and divides the products by 2¹⁵, rounded. `a` and `b` must not both be −2¹⁵. */
// @ts-ignore: decorator
@inline
export function fixedProduct(a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i16x8.relaxed_q15mulr_s(a, b) : i16x8.q15mulr_sat_s(a, b);
}

/** Replaces each index by the byte at this index of a 16-byte table, and indices of 128 or more by 0. */
// @ts-ignore: decorator
@inline
export function lookUp(table: v128, indices: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.relaxed_swizzle(table, indices) : i8x16.swizzle(table, indices);
}
