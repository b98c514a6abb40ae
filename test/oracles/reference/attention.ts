import { LOG2_E, MIN_EXTENT, SCORE_PARTS } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { U7 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { columnsOfHead } from "./columns-of-head.ts";
import { fround, nearest } from "./float32.ts";
import type { IntegerProduct } from "./integer-product.ts";
import { FRACTION_BITS, numerator } from "./numerator.ts";
import { quantizeRowsSymmetric } from "./quantize-rows.ts";

export interface AttentionInputs {
  /** Queries [tokens, heads · size]. Keys and values have the same shape. */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** Bias [heads or 1, tokens, tokens] that is added to scores; undefined for none. */
  readonly bias: Float32Array | undefined;
  readonly heads: number;
  /** Numbers per head. */
  readonly size: number;
  /** Scale of the scores, usually 1/√size. */
  readonly scale: number;
}

/**
 * Computes softmax(query · keyᵀ · scale + bias) · value for each head of one sequence. Both matrix products use
 * integers: i8 queries times u7 keys, then u7 softmax numerators times i8 values. u7 numbers have 7 bits: 0…127. The
 * values have a scale per channel, which is a column of a head. The result is divided by the sum of the quantized
 * numerators.
 *
 * @returns [tokens, heads · size]
 */
export async function quantizedAttention(
  { query, key, value, bias, heads, size, scale }: AttentionInputs,
  product: IntegerProduct,
): Promise<Float32Array> {
  const tokens = query.length / (heads * size);
  const context = new Float32Array(query.length);
  for (let head = 0; head < heads; head++) {
    const part = (x: Float32Array) => columnsOfHead(x, head, heads, size);
    const queries = quantizeRowsSymmetric(part(query), size);
    const keys = quantizeKeys(part(key), size);
    const values = quantizeRowsSymmetric(transposed(part(value), size), tokens);
    const products = await product(queries.values, keys.values, size);
    const factor = fround(keys.scale * fround(LOG2_E * scale));
    const scales = queries.scales.map((each) => each * factor);
    const headBias = bias?.subarray((head * tokens * tokens) % bias.length);
    const { numerators, inverse } = softmax(products, scales, headBias);
    const sums = await product(values.values, numerators, tokens);
    for (let token = 0; token < tokens; token++) {
      for (let i = 0; i < size; i++) {
        const factor = fround((values.scales[i] as number) * (inverse[token] as number));
        context[(token * heads + head) * size + i] = fround(sums[i * tokens + token] as number) * factor;
      }
    }
  }
  return context;
}

/** Transposes x [rows, width] to [width, rows]. */
function transposed(x: Float32Array, width: number): Float32Array {
  const rows = x.length / width;
  return x.map((_, i) => x[(i % rows) * width + Math.floor(i / rows)] as number);
}

/**
 * Subtracts each channel's minimum from the keys, then quantizes the keys to 0…127 with one scale for all channels. The
 * subtraction does not change the softmax, because it lowers all scores of a query by the same number.
 *
 * @param x [tokens, size]
 */
function quantizeKeys(x: Float32Array, size: number): { values: Int8Array; scale: number } {
  const min = x.slice(0, size);
  const max = x.slice(0, size);
  x.forEach((value, at) => {
    min[at % size] = Math.min(min[at % size] as number, value);
    max[at % size] = Math.max(max[at % size] as number, value);
  });
  const extent = max.reduce((highest, high, i) => Math.max(highest, fround(high - (min[i] as number))), MIN_EXTENT);
  const inverse = fround(U7.max / extent);
  const values = Int8Array.from(x, (value, at) =>
    Math.min(nearest(fround(fround(value - (min[at % size] as number)) * inverse)), U7.max),
  );
  return { values, scale: fround(extent / U7.max) };
}

/** The error of a numerator is carried to that of the token which is this number of tokens later. */
const LANES = 16;
/** Tokens up to which numerators are rounded. In longer texts, their fractions are cut off after one of 16 fractions is added. */
const SHORT = 32;
const UNIT = 1 << FRACTION_BITS;

/** The first fractions of lanes: the bits of the lane in reverse order, so that neighbours differ. */
const staggered = (lane: number): number =>
  4 + 8 * [8, 4, 2, 1].reduce((sum, weight, bit) => sum + ((lane >> bit) & 1) * weight, 0);

/**
 * Computes the numerator 2^(score − maximum) of every score in 7 bits, and the inverse of the sum of each row's
 * numerators. Scores are in units of 1/SCORE_PARTS.
 *
 * @param products [tokens, tokens]
 * @param scales [tokens]: the scale of each row of products
 * @param bias [tokens, tokens]: added to scores
 */
function softmax(
  products: Int32Array,
  scales: Float32Array,
  bias: Float32Array | undefined,
): { numerators: Int8Array; inverse: Float32Array } {
  const tokens = scales.length;
  const numerators = new Int8Array(products.length);
  const inverse = new Float32Array(tokens);
  scales.forEach((scale, row) => {
    const start = row * tokens;
    const scores = Float32Array.from(products.subarray(start, start + tokens), (value, i) => {
      const score = fround(fround(value) * fround(scale * SCORE_PARTS));
      return bias ? score + fround(fround((bias[start + i] as number) * LOG2_E) * SCORE_PARTS) : score;
    });
    const max = scores.reduce((highest, score) => Math.max(highest, score));
    let sum = 0;
    const carried = Array.from({ length: LANES }, (_, lane) => (tokens > SHORT ? staggered(lane) : UNIT / 2));
    scores.forEach((score, i) => {
      const exact = numerator(fround(max - score)) + (carried[i % LANES] as number);
      carried[i % LANES] = exact % UNIT;
      numerators[start + i] = exact >> FRACTION_BITS;
      sum += numerators[start + i] as number;
    });
    // When the scores are NaN or infinite, the sum is 0 and its inverse is infinite. The context of the row then becomes
    // NaN.
    inverse[row] = 1 / sum;
  });
  return { numerators, inverse };
}
