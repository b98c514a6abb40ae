import { MIN_EXTENT } from "../constants/arithmetic";
import { CHANNEL_MAX, CHANNEL_MIN } from "../constants/memory";
import { maxOf, narrow, nearestInteger, rounding } from "./simd";

/**
 * Tokens per chunk. All channels of one chunk are processed before the next chunk begins, so the rows of the chunk stay
 * in the cache.
 */
const CHUNK: i32 = 32;

/**
 * Subtracts each channel's minimum from the keys, then quantizes the keys with one scale for all channels. A channel is
 * a column of a head. The subtraction does not change the softmax, because all scores of a query become lower by
 * the same number.
 *
 * @param x f32 [tokens, stride]; reads `size` numbers of each row; size is a multiple of 4
 * @param out u7 [padded/8, size/4, 8, 4]; tokens from index `tokens` on are padding and get zeros
 * @returns the scale
 */
export function quantizeKeys(x: usize, stride: i32, tokens: i32, padded: i32, size: i32, out: usize): f32 {
  const extent = rangeOf(x, stride << 2, tokens, size);
  const by = rounding();
  const inverse = f32x4.splat(127 / extent);
  const bytes = stride << 2;
  const end = x + tokens * bytes;
  for (let from = 0; from < padded; from += CHUNK) {
    const to = min(from + CHUNK, padded);
    for (let i = 0; i < size; i += 4) {
      const low = v128.load(CHANNEL_MIN + (i << 2));
      let p = x + from * bytes + (i << 2);
      for (let token = from; token < to; token += 4, p += bytes << 2) {
        const four = narrow(
          offsetsOf(p, end, low, inverse, by),
          offsetsOf(p + bytes, end, low, inverse, by),
          offsetsOf(p + 2 * bytes, end, low, inverse, by),
          offsetsOf(p + 3 * bytes, end, low, inverse, by),
        );
        v128.store(out + (token >> 3) * (size << 3) + ((token & 4) << 2) + (i << 3), four);
      }
    }
  }
  return extent / 127;
}

/**
 * Stores each channel's minimum in CHANNEL_MIN and its maximum in CHANNEL_MAX. @returns the largest difference between a
 * channel's maximum and minimum
 */
function rangeOf(x: usize, bytes: i32, tokens: i32, size: i32): f32 {
  memory.copy(CHANNEL_MIN, x, size << 2);
  memory.copy(CHANNEL_MAX, x, size << 2);
  for (let from = 0; from < tokens; from += CHUNK) {
    const to = min(from + CHUNK, tokens);
    for (let i = 0; i < size << 2; i += 16) {
      let low = v128.load(CHANNEL_MIN + i);
      let high = v128.load(CHANNEL_MAX + i);
      const end = x + to * bytes + i;
      for (let p = x + from * bytes + i; p < end; p += bytes) {
        const value = v128.load(p);
        low = f32x4.pmin(low, value);
        high = f32x4.pmax(high, value);
      }
      v128.store(CHANNEL_MIN + i, low);
      v128.store(CHANNEL_MAX + i, high);
    }
  }
  let extents = f32x4.splat(<f32>MIN_EXTENT);
  for (let i = 0; i < size << 2; i += 16) {
    extents = f32x4.pmax(extents, f32x4.sub(v128.load(CHANNEL_MAX + i), v128.load(CHANNEL_MIN + i)));
  }
  return maxOf(extents);
}

/**
 * Loads four numbers of a key, subtracts the minimum of each number's channel, and quantizes the differences. If `p` is
 * at or after `end`, the key is padding and the result is zeros.
 */
// @ts-ignore: decorator
@inline
function offsetsOf(p: usize, end: usize, low: v128, inverse: v128, by: v128): v128 {
  return p < end ? nearestInteger(f32x4.mul(f32x4.sub(v128.load(p), low), inverse), by) : i32x4.splat(0);
}

/**
 * Quantizes values symmetrically, with a scale per channel. To find a channel's maximum magnitude, the bits of the
 * magnitudes are compared as integers. NaN is then larger than every number, so a channel with NaN gets the scale NaN.
 *
 * @param x f32 [tokens, stride]; reads `size` numbers of each row; size is a multiple of 4
 * @param out i8 [size/8, padded/4, 8, 4]; tokens from index `tokens` on are padding and get zeros
 */
export function quantizeValues(
  x: usize,
  stride: i32,
  tokens: i32,
  padded: i32,
  size: i32,
  out: usize,
  scales: usize,
): void {
  const bytes = stride << 2;
  const end = x + tokens * bytes;
  const by = rounding();
  peaksOf(x, bytes, tokens, size);
  for (let i = 0; i < size; i += 4) {
    v128.store(scales + (i << 2), f32x4.div(v128.load(CHANNEL_MAX + (i << 2)), f32x4.splat(127)));
  }
  for (let from = 0; from < padded; from += CHUNK) {
    const to = min(from + CHUNK, padded);
    for (let i = 0; i < size; i += 4) {
      const inverse = f32x4.div(f32x4.splat(127), v128.load(CHANNEL_MAX + (i << 2)));
      let p = x + from * bytes + (i << 2);
      for (let token = from; token < to; token += 4, p += bytes << 2) {
        const four = narrow(
          wholesOf(p, end, inverse, by),
          wholesOf(p + bytes, end, inverse, by),
          wholesOf(p + 2 * bytes, end, inverse, by),
          wholesOf(p + 3 * bytes, end, inverse, by),
        );
        const byChannel = v128.shuffle<i8>(four, four, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        v128.store(out + (i >> 3) * (padded << 3) + (token << 3) + ((i & 4) << 2), byChannel);
      }
    }
  }
}

/** Stores each channel's maximum magnitude in CHANNEL_MAX. */
function peaksOf(x: usize, bytes: i32, tokens: i32, size: i32): void {
  for (let i = 0; i < size << 2; i += 16) v128.store(CHANNEL_MAX + i, f32x4.splat(<f32>MIN_EXTENT));
  for (let from = 0; from < tokens; from += CHUNK) {
    const to = min(from + CHUNK, tokens);
    for (let i = 0; i < size << 2; i += 16) {
      let peak = v128.load(CHANNEL_MAX + i);
      const end = x + to * bytes + i;
      for (let p = x + from * bytes + i; p < end; p += bytes) peak = i32x4.max_s(peak, f32x4.abs(v128.load(p)));
      v128.store(CHANNEL_MAX + i, peak);
    }
  }
}

/**
 * Loads and quantizes four numbers of a value. If `p` is at or after `end`, the value is padding and the result is
 * zeros.
 */
// @ts-ignore: decorator
@inline
function wholesOf(p: usize, end: usize, inverse: v128, by: v128): v128 {
  return p < end ? nearestInteger(f32x4.mul(v128.load(p), inverse), by) : i32x4.splat(0);
}
