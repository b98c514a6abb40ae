import { dot, greatestOf, integerSumOf, narrow, nearestInteger, rounding } from "./simd";

/** Scores that are greater than none. */
const HIDDEN: f32 = -Infinity;
const HIDDEN_PRODUCT: i32 = -1 << 28;

/*
 * Constants are loaded before loops: as literals they would be made anew each time round. Those of `numerator` are in
 * build/scalar/exp.ts: 127 · 2ʳ, lowest power first; where it becomes zero.
 */
const CONSTANTS: usize = memory.data<f32>([126.99086108, 88.04415081, 30.81167828, 7.00679574, -26]);

/**
 * round(127 · 2^(score − greatest)) as bytes; one over their sum becomes the row's scale.
 *
 * @param scores i32 [padded], multiples of the row's scale
 * @param padded a multiple of 16
 * @param bias f32 [tokens], added; 0 for none
 * @param out u7 [padded]
 * @param row {scale: f32, …}
 */
// @ts-ignore: decorator
@inline
export function softmax(scores: usize, tokens: i32, padded: i32, bias: usize, out: usize, row: usize): void {
  const end = scores + (padded << 2);
  const scale = load<f32>(row);
  const greatest = bias ? biased(scores, tokens, end, bias, scale) : greatestProduct(scores, tokens, end) * scale;
  const total = bias
    ? numerators(true, scores, tokens, padded, f32x4.splat(1), greatest, out)
    : numerators(false, scores, tokens, padded, f32x4.splat(scale), greatest, out);
  // NaN for a row that is NaN, infinite or hidden throughout.
  store<f32>(row, 1 / <f32>total + 0 * greatest);
}

// @ts-ignore: decorator
@inline
function greatestProduct(scores: usize, tokens: i32, end: usize): f32 {
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

/** Scales products and adds a bias. */
function biased(scores: usize, tokens: i32, end: usize, bias: usize, scale: f32): f32 {
  for (let i = 0; i < tokens; i++) {
    store<f32>(scores + (i << 2), <f32>load<i32>(scores + (i << 2)) * scale + load<f32>(bias + (i << 2)));
  }
  for (let p = scores + (tokens << 2); p < end; p += 4) store<f32>(p, HIDDEN);
  let peaks = v128.load(scores);
  for (let p = scores; p < end; p += 16) peaks = f32x4.pmax(peaks, v128.load(p));
  return greatestOf(peaks);
}

/** @returns Σ out */
// @ts-ignore: decorator
@inline
function numerators(
  areScaled: bool,
  scores: usize,
  tokens: i32,
  padded: i32,
  scale: v128,
  greatest: f32,
  out: usize,
): i32 {
  const end = scores + (padded << 2);
  const peak = f32x4.splat(greatest);
  const c0 = v128.load32_splat(CONSTANTS);
  const c1 = v128.load32_splat(CONSTANTS, 4);
  const c2 = v128.load32_splat(CONSTANTS, 8);
  const c3 = v128.load32_splat(CONSTANTS, 12);
  const nothing = v128.load32_splat(CONSTANTS, 16);
  const by = rounding();
  const ones = i8x16.splat(1);
  let sums = i32x4.splat(0);
  for (let p = scores; p < end; p += 64, out += 16) {
    const bytes = narrow(
      numerator(scored(areScaled, v128.load(p), scale, peak), nothing, by, c0, c1, c2, c3),
      numerator(scored(areScaled, v128.load(p, 16), scale, peak), nothing, by, c0, c1, c2, c3),
      numerator(scored(areScaled, v128.load(p, 32), scale, peak), nothing, by, c0, c1, c2, c3),
      numerator(scored(areScaled, v128.load(p, 48), scale, peak), nothing, by, c0, c1, c2, c3),
    );
    v128.store(out, bytes);
    sums = dot(ones, bytes, sums);
  }
  const last = v128.load(out - 16);
  const visible = v128.and(last, v128.load(VISIBLE + (padded - tokens)));
  v128.store(out - 16, visible);
  return integerSumOf(dot(ones, visible, i32x4.sub(sums, dot(ones, last, i32x4.splat(0)))));
}

/** From its n-th byte on, what hides the last n of sixteen. */
const VISIBLE: usize = memory.data<u8>([
  255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

// @ts-ignore: decorator
@inline
function scored(areScaled: bool, x: v128, scale: v128, peak: v128): v128 {
  return f32x4.sub(areScaled ? x : f32x4.mul(f32x4.convert_i32x4_s(x), scale), peak);
}

/** round(127 · 2ʸ) for y ≤ 0: y as a whole number, and a polynomial in what is left. */
// @ts-ignore: decorator
@inline
function numerator(y: v128, nothing: v128, by: v128, c0: v128, c1: v128, c2: v128, c3: v128): v128 {
  const limited = f32x4.pmax(y, nothing);
  const shifted = f32x4.add(limited, by);
  const r = f32x4.sub(limited, f32x4.sub(shifted, by));
  const low = f32x4.add(c0, f32x4.mul(c1, r));
  const high = f32x4.add(c2, f32x4.mul(c3, r));
  const p = f32x4.add(low, f32x4.mul(high, f32x4.mul(r, r)));
  return nearestInteger(i32x4.add(p, i32x4.shl(shifted, 23)), by);
}
