import { SCORE_PARTS, SOFTMAX_P0, SOFTMAX_P1, SOFTMAX_P2, SOFTMAX_P3 } from "../constants/arithmetic";
import { dot, fixedProduct, maxOf, integerSumOf, lookUp, rounding } from "./simd";

/** Score of padding: lower than all other scores. HIDDEN is for float32 scores, HIDDEN_PRODUCT for integer scores. */
const HIDDEN: f32 = -Infinity;
const HIDDEN_PRODUCT: i32 = -1 << 28;

const PARTS: f32 = <f32>SCORE_PARTS;
/**
 * The coefficients of the polynomial, a mask for the bits of a fraction, and a mask that sets the upper byte of a 16-bit index to 128,
 * for which lookUp returns 0. These numbers are in memory, because literals would be built again for every vector.
 */
const COEFFICIENTS: usize = memory.data<i16>([
  <i16>SOFTMAX_P0,
  <i16>SOFTMAX_P1,
  <i16>SOFTMAX_P2,
  <i16>SOFTMAX_P3,
  0x7fff,
  <i16>0x8000,
]);
/** The number at index n is 2⁷⁻ⁿ for n < 8, 2¹⁵⁻ⁿ for n from 8 to 14, and 0 for the maximum distance. */
const POWERS: usize = memory.data<u8>([128, 64, 32, 16, 8, 4, 2, 1, 128, 64, 32, 16, 8, 4, 2, 0]);

/** Bits of a numerator's fraction. */
const FRACTION_BITS = 7;
const FRACTION: usize = memory.data<i16>([127]);
/**
 * Numbers that are added to the numerators of the first sixteen tokens before their fractions are cut off. HALVES rounds to the
 * nearest integer. STAGGERED is for long texts: with different fractions, equal small numerators are not all rounded the same way.
 */
const HALVES: usize = memory.data<i16>([64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64]);
const STAGGERED: usize = memory.data<i16>([4, 68, 36, 100, 20, 84, 52, 116, 12, 76, 44, 108, 28, 92, 60, 124]);
/** Maximum number of tokens with HALVES. Longer texts use STAGGERED. */
const SHORT: i32 = 32;

/**
 * Computes the softmax of a row. Stores the numerators 127 · 2^(score − maximum) as bytes. The fraction that is cut off from a
 * numerator is added to the numerator of the token sixteen positions later. Otherwise the sum would be wrong for long texts, in which
 * most numerators are below 1. Stores the inverse of the numerators' sum as the row's scale. The first loop computes each score's
 * distance from the maximum, the second loop computes the numerators. Two short loops are faster than one long loop: the processor
 * then works on several vectors at the same time.
 *
 * @param scores i32 [padded], in units of the row's scale; overwritten
 * @param padded a multiple of 16
 * @param bias f32 [tokens]: added to scores; 0 for none
 * @param out u7 [padded]
 * @param row {scale: f32, …}: the scale of the scores; the function replaces it by the scale of the result
 */
// @ts-ignore: decorator
@inline
export function softmaxInt8(scores: usize, tokens: i32, padded: i32, bias: usize, out: usize, row: usize): void {
  const end = scores + (padded << 2);
  const scale = load<f32>(row) * PARTS;
  const max = bias ? biased(scores, tokens, end, bias, scale) : maxProduct(scores, tokens, end) * scale;
  if (bias) distances(true, scores, padded, f32x4.splat(1), max);
  else distances(false, scores, padded, f32x4.splat(scale), max);
  // When the scores are NaN or infinite, the sum is 0 and the scale is infinite. The context of the row then becomes NaN.
  store<f32>(row, 1 / <f32>numerators(scores, tokens, padded, out));
}

// @ts-ignore: decorator
@inline
function maxProduct(scores: usize, tokens: i32, end: usize): f32 {
  for (let p = scores + (tokens << 2); p < end; p += 4) store<i32>(p, HIDDEN_PRODUCT);
  let a = v128.load(scores);
  let b = a;
  for (let p = scores; p < end; p += 32) {
    a = i32x4.max_s(a, v128.load(p));
    b = i32x4.max_s(b, v128.load(p, 16));
  }
  a = i32x4.max_s(a, b);
  a = i32x4.max_s(a, v128.shuffle<i32>(a, a, 2, 3, 0, 1));
  return <f32>max(i32x4.extract_lane(a, 0), i32x4.extract_lane(a, 1));
}

/** Scales the scores, adds the bias and hides padding. @returns the maximum */
function biased(scores: usize, tokens: i32, end: usize, bias: usize, scale: f32): f32 {
  const factor = f32x4.splat(scale);
  const parts = f32x4.splat(PARTS);
  const last = scores + (tokens << 2);
  let p = scores;
  for (; p + 16 <= last; p += 16, bias += 16) {
    v128.store(p, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(v128.load(p)), factor), f32x4.mul(v128.load(bias), parts)));
  }
  for (; p < last; p += 4, bias += 4) store<f32>(p, <f32>load<i32>(p) * scale + load<f32>(bias) * PARTS);
  for (; p < end; p += 4) store<f32>(p, HIDDEN);
  let peaks = v128.load(scores);
  for (p = scores; p < end; p += 16) peaks = f32x4.max(peaks, v128.load(p));
  return maxOf(peaks);
}

/** Replaces scores by their distances from the maximum: u16 [padded], in units of 1/SCORE_PARTS. */
// @ts-ignore: decorator
@inline
function distances(areScaled: bool, scores: usize, padded: i32, scale: v128, max: f32): void {
  const end = scores + (padded << 2);
  const peak = f32x4.splat(max);
  const by = rounding();
  const positive = i32x4.splat(0x7fffffff);
  let out = scores;
  for (let p = scores; p < end; p += 32, out += 16) {
    const low = distance(areScaled, v128.load(p), scale, peak, by, positive);
    const high = distance(areScaled, v128.load(p, 16), scale, peak, by, positive);
    v128.store(out, i16x8.narrow_i32x4_u(low, high));
  }
}

/**
 * Returns four distances. ∞, NaN and distances beyond 16 bits saturate when the caller narrows them to 16 bits. Their
 * numerators are 0.
 */
// @ts-ignore: decorator
@inline
function distance(areScaled: bool, x: v128, scale: v128, peak: v128, by: v128, positive: v128): v128 {
  const score = areScaled ? x : f32x4.mul(f32x4.convert_i32x4_s(x), scale);
  // Clears the sign, because NaN can have either sign.
  return i32x4.sub(v128.and(f32x4.add(f32x4.sub(peak, score), by), positive), by);
}

/**
 * Stores the numerators of all distances. Tokens from index `tokens` on are padding and get zeros. @returns the sum of
 * the numerators
 */
// @ts-ignore: decorator
@inline
function numerators(distances: usize, tokens: i32, padded: i32, out: usize): i32 {
  const end = distances + (padded << 1);
  const c0 = v128.load16_splat(COEFFICIENTS);
  const c1 = v128.load16_splat(COEFFICIENTS, 2);
  const c2 = v128.load16_splat(COEFFICIENTS, 4);
  const c3 = v128.load16_splat(COEFFICIENTS, 6);
  const fractions = v128.load16_splat(COEFFICIENTS, 8);
  const noEntry = v128.load16_splat(COEFFICIENTS, 10);
  const powers = v128.load(POWERS);
  const fraction = v128.load16_splat(FRACTION);
  const ones = v128.load8_splat(ONE);
  let sums = i32x4.splat(0);
  const first = tokens > SHORT ? STAGGERED : HALVES;
  let carryLow = v128.load(first);
  let carryHigh = v128.load(first, 16);
  for (let p = distances; p < end; p += 32, out += 16) {
    const low = i16x8.add(carryLow, numerator(v128.load(p), fractions, noEntry, powers, c0, c1, c2, c3));
    const high = i16x8.add(carryHigh, numerator(v128.load(p, 16), fractions, noEntry, powers, c0, c1, c2, c3));
    carryLow = v128.and(low, fraction);
    carryHigh = v128.and(high, fraction);
    const bytes = i8x16.narrow_i16x8_s(i16x8.shr_u(low, FRACTION_BITS), i16x8.shr_u(high, FRACTION_BITS));
    v128.store(out, bytes);
    sums = dot(ones, bytes, sums);
  }
  const last = v128.load(out - 16);
  const visible = v128.and(last, v128.load(VISIBLE + (padded - tokens)));
  v128.store(out - 16, visible);
  return integerSumOf(dot(ones, visible, i32x4.sub(sums, dot(ones, last, i32x4.splat(0)))));
}

const ONE: usize = memory.data<u8>([1]);

/** Masks for sixteen numbers. The mask that begins at byte n hides the last n numbers. */
const VISIBLE: usize = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/**
 * Returns 127 · 2⁷ · 2⁻ᵈ for eight distances: seven bits before the point, and FRACTION_BITS after it. d is split into an integer and
 * a fraction. A table has the power of 2 for the integer. A polynomial computes the factor for the fraction.
 */
// @ts-ignore: decorator
@inline
function numerator(
  d: v128,
  fractions: v128,
  noEntry: v128,
  powers: v128,
  c0: v128,
  c1: v128,
  c2: v128,
  c3: v128,
): v128 {
  const f = v128.and(i16x8.shl(d, 3), fractions);
  const p2 = i16x8.sub(c2, fixedProduct(f, c3));
  const p1 = i16x8.sub(c1, fixedProduct(f, p2));
  const p0 = i16x8.sub(c0, fixedProduct(f, p1));
  const power = lookUp(powers, v128.or(i16x8.shr_u(d, 12), noEntry));
  const product = fixedProduct(p0, i16x8.shl(power, 7));
  // If d is 8 or more, the power from the table is 2⁸ times too large.
  return v128.bitselect(i16x8.shr_u(product, 8), product, i16x8.shr_s(d, 15));
}
