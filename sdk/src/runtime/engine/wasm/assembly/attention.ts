import { multiplyContext, multiplyScores } from "./multiply";
import { LEAST_EXTENT, quantizeSymmetric } from "./quantize";
import { greatestOf, nearestInteger } from "./simd";
import { softmax } from "./softmax";

/** Queries whose scores are in memory at a time. */
const BLOCK: i32 = 24;

/**
 * softmax(query · keyᵀ · scale + bias) · value of one head of one sequence
 *
 * @param query f32 [tokens, stride], as are key and value: `size` numbers of each row
 * @param size a multiple of 4
 * @param bias f32 [2 · span − 1], added to the score of key j for query i at j − i + span − 1; 0 for none
 * @param out f32 [tokens, outStride], `size` numbers of each row
 * @param scratch attentionScratch(tokens, size) bytes
 */
export function attention(
  query: usize,
  key: usize,
  value: usize,
  stride: i32,
  tokens: i32,
  size: i32,
  scale: f32,
  bias: usize,
  span: i32,
  out: usize,
  outStride: i32,
  scratch: usize,
): void {
  const padded = (tokens + 15) & ~15;
  const columns = (size + 7) & ~7;
  const queries = scratch;
  const rows = queries + tokens * size;
  const keys = rows + (tokens << 4);
  const values = keys + padded * size;
  const valueScale = values + padded * columns;
  const scores = valueScale + (columns << 2);
  const numerators = scores + ((BLOCK * padded) << 2);

  const keyScale = quantizeKeys(key, stride, tokens, padded, size, keys) * scale;
  quantizeSymmetric(query, stride, tokens, size, keyScale, queries, rows);
  quantizeValues(value, stride, tokens, padded, size, values, valueScale);
  for (let from = 0; from < tokens; from += BLOCK) {
    const count = min(BLOCK, tokens - from);
    const params = rows + (from << 4);
    multiplyScores(queries + from * size, count, size, keys, padded, scores, padded);
    for (let row = 0; row < count; row++) {
      const distances = bias ? bias + ((span - 1 - from - row) << 2) : 0;
      softmax(scores + ((row * padded) << 2), tokens, padded, distances, numerators + row * padded, params + (row << 4));
    }
    multiplyContext(numerators, params, count, padded, values, valueScale, size, out + ((from * outStride) << 2), outStride);
  }
}

/** Bytes that attention needs beside its operands. */
export function attentionScratch(tokens: i32, size: i32): i32 {
  const padded = (tokens + 15) & ~15;
  const columns = (size + 7) & ~7;
  return tokens * (size + 16) + padded * (size + columns + 5 * BLOCK) + (columns << 2);
}

/**
 * Keys as steps above each channel's least, which a softmax does not see, one step for all.
 *
 * @param out u7 [padded/8, size/4, 8, 4], zeros from `tokens` on
 * @returns the step
 */
function quantizeKeys(x: usize, stride: i32, tokens: i32, padded: i32, size: i32, out: usize): f32 {
  const bytes = stride << 2;
  const length = tokens * bytes;
  let extents = f32x4.splat(LEAST_EXTENT);
  for (let i = 0; i < size; i += 4) {
    const column = x + (i << 2);
    let least = v128.load(column);
    let greatest = least;
    for (let p = column + bytes; p < column + length; p += bytes) {
      const value = v128.load(p);
      least = f32x4.pmin(least, value);
      greatest = f32x4.pmax(greatest, value);
    }
    extents = f32x4.pmax(extents, f32x4.sub(greatest, least));
    v128.store(LEAST + (i << 2), least);
  }
  const extent = greatestOf(extents);
  const inverse = f32x4.splat(127 / extent);
  const limit = i32x4.splat(127);
  for (let i = 0; i < size; i += 4) {
    const least = v128.load(LEAST + (i << 2));
    let p = x + (i << 2);
    for (let token = 0; token < tokens; token++, p += bytes) {
      const steps = nearestInteger(f32x4.mul(f32x4.sub(v128.load(p), least), inverse));
      const four = i32x4.min_s(steps, limit);
      const pairs = i16x8.narrow_i32x4_s(four, four);
      v128.store32_lane(fourOf(out, token, i, size), i8x16.narrow_i16x8_s(pairs, pairs), 0);
    }
    for (let token = tokens; token < padded; token++) store<i32>(fourOf(out, token, i, size), 0);
  }
  return extent / 127;
}

/** Where four of a key's channels are, from `channel` on. */
// @ts-ignore: decorator
@inline
function fourOf(keys: usize, token: i32, channel: i32, size: i32): usize {
  return keys + (token >> 3) * (size << 3) + ((token & 7) << 2) + (channel << 3);
}

/** Each channel’s least, of heads of at most 256 (GREATEST_HEAD in program.ts). */
const LEAST: usize = memory.data(1024, 16);

/** i8 [size/8, tokens/4, 8, 4], symmetric, a scale a channel; NaN is greater than all numbers as integers are compared */
function quantizeValues(x: usize, stride: i32, tokens: i32, padded: i32, size: i32, out: usize, scales: usize): void {
  const bytes = stride << 2;
  for (let channel = 0; channel < size; channel += 4) {
    const column = x + (channel << 2);
    const end = column + tokens * bytes;
    let peaks = f32x4.splat(LEAST_EXTENT);
    for (let p = column; p < end; p += bytes) peaks = i32x4.max_s(peaks, f32x4.abs(v128.load(p)));
    v128.store(scales + (channel << 2), f32x4.div(peaks, f32x4.splat(127)));
    const inverse = f32x4.div(f32x4.splat(127), peaks);
    let to = out + (channel >> 3) * (padded << 3) + ((channel & 4) << 2);
    for (let token = 0, p = column; token < padded; token += 4, p += bytes << 2, to += 32) {
      let four = wholeBytes(p, end, inverse);
      four = v128.or(four, i32x4.shl(wholeBytes(p + bytes, end, inverse), 8));
      four = v128.or(four, i32x4.shl(wholeBytes(p + 2 * bytes, end, inverse), 16));
      four = v128.or(four, i32x4.shl(wholeBytes(p + 3 * bytes, end, inverse), 24));
      v128.store(to, four);
    }
  }
}

/** Four numbers, each in the lowest byte of its lane; zeros from `end` on. */
// @ts-ignore: decorator
@inline
function wholeBytes(p: usize, end: usize, inverse: v128): v128 {
  if (p >= end) return i32x4.splat(0);
  const whole = i32x4.min_s(nearestInteger(f32x4.mul(v128.load(p), inverse)), i32x4.splat(127));
  return v128.and(whole, i32x4.splat(0xff));
}
