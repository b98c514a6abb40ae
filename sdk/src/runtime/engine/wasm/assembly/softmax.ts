import { SCORE_PARTS, SOFTMAX_P0, SOFTMAX_P1, SOFTMAX_P2, SOFTMAX_P3 } from "../constants/arithmetic";
import { dot, fixedProduct, maxOf, integerSumOf, lookUp, rounding } from "./simd";

/** Score of padding: lower than all other scores. HIDDEN is for float32 scores, HIDDEN_PRODUCT for integer scores. */
const HIDDEN: f32 = -Infinity;
const HIDDEN_PRODUCT: i32 = -1 << 28;

const PARTS: f32 = <f32>SCORE_PARTS;
/**
 * This number is added to every distance. The highest four bits of the sum are then an index into POWERS, from 8 to 15.
 * An index has two bytes, and the lookup replaces each of them by an entry of POWERS. The upper byte is 0 and must
 * stay 0. Therefore entry 0 of POWERS is 0.
 */
const ABOVE: i32 = 8 * SCORE_PARTS;
/**
 * The coefficients of the polynomial, followed by a mask for the bits of a fraction. These numbers are in memory,
 * because literals would be built again for every vector.
 */
const COEFFICIENTS: usize = memory.data<i16>([
  <i16>SOFTMAX_P0,
  <i16>SOFTMAX_P1,
  <i16>SOFTMAX_P2,
  <i16>SOFTMAX_P3,
  0x7fff,
]);
/** The number at index 8 + n is 2⁷⁻ⁿ. */
const POWERS: usize = memory.data<u8>([0, 0, 0, 0, 0, 0, 0, 0, 128, 64, 32, 16, 8, 4, 2, 1]);

/**
 * Computes the softmax of a row. Stores the numerators round(127 · 2^(score − maximum)) as bytes. Stores the inverse of
 * the numerators' sum as the row's scale. The first loop computes each score's distance from the maximum, the second
 * loop computes the numerators. Two short loops are faster than one long loop: the processor then works on several
 * vectors at the same time.
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

/** Replaces scores by their distances from the maximum: u16 [padded], in units of 1/SCORE_PARTS, plus ABOVE. */
// @ts-ignore: decorator
@inline
function distances(areScaled: bool, scores: usize, padded: i32, scale: v128, max: f32): void {
  const end = scores + (padded << 2);
  const peak = f32x4.splat(max);
  const by = rounding();
  const base = i32x4.sub(by, i32x4.splat(ABOVE));
  let out = scores;
  for (let p = scores; p < end; p += 32, out += 16) {
    const low = distance(areScaled, v128.load(p), scale, peak, by, base);
    const high = distance(areScaled, v128.load(p, 16), scale, peak, by, base);
    v128.store(out, i16x8.narrow_i32x4_u(low, high));
  }
}

/**
 * Returns four distances. ∞, NaN and distances beyond 16 bits saturate when the caller narrows them to 16 bits. Their
 * numerators are 0.
 */
// @ts-ignore: decorator
@inline
function distance(areScaled: bool, x: v128, scale: v128, peak: v128, by: v128, base: v128): v128 {
  const score = areScaled ? x : f32x4.mul(f32x4.convert_i32x4_s(x), scale);
  return i32x4.sub(f32x4.add(f32x4.sub(peak, score), by), base);
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
  const powers = v128.load(POWERS);
  const ones = v128.load8_splat(ONE);
  let sums = i32x4.splat(0);
  for (let p = distances; p < end; p += 32, out += 16) {
    const low = numerator(v128.load(p), fractions, powers, c0, c1, c2, c3);
    const high = numerator(v128.load(p, 16), fractions, powers, c0, c1, c2, c3);
    const bytes = i8x16.narrow_i16x8_s(low, high);
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
 * Returns round(127 · 2⁻ᵈ) for eight distances. d is split into an integer and a fraction. A table has the power of 2 for
 * the integer. A polynomial computes the factor for the fraction.
 */
// @ts-ignore: decorator
@inline
function numerator(d: v128, fractions: v128, powers: v128, c0: v128, c1: v128, c2: v128, c3: v128): v128 {
  const f = v128.and(i16x8.shl(d, 3), fractions);
  const p2 = i16x8.sub(c2, fixedProduct(f, c3));
  const p1 = i16x8.sub(c1, fixedProduct(f, p2));
  const p0 = i16x8.sub(c0, fixedProduct(f, p1));
  return fixedProduct(p0, lookUp(powers, i16x8.shr_u(d, 12)));
}
