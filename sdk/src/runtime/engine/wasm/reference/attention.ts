import { LOG2_E } from "./exp.ts";
import { fround, nearest } from "./float32.ts";
import type { IntegerProduct } from "./integer-product.ts";
import { numerator, PARTS } from "./numerator.ts";
import { LEAST_EXTENT, quantizeRowsSymmetric, U7 } from "./quantize-rows.ts";

export interface AttentionInputs {
  /** Each [tokens, heads · size]. */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** Added to scores, [heads or 1, tokens, tokens]; undefined for none. */
  readonly bias: Float32Array | undefined;
  readonly heads: number;
  /** Of a head. */
  readonly size: number;
  /** Of scores, usually 1/√size. */
  readonly scale: number;
}

/**
 * softmax(query · keyᵀ · scale + bias) · value per head of one sequence, both products in integers: query i8 · key u7,
 * then value i8 per channel · numerators of the softmax u7, divided by the sum of the quantized numerators.
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
    const part = (x: Float32Array) => headOf(x, head, heads, size);
    const queries = quantizeRowsSymmetric(part(query), size);
    const keys = quantizeKeys(part(key), size);
    const values = quantizeRowsSymmetric(transposed(part(value), size), tokens);
    const products = await product(queries.values, keys.values, size);
    const factor = fround(keys.scale * fround(LOG2_E * scale));
    const steps = queries.scale.map((step) => step * factor);
    const headBias = bias?.subarray((head * tokens * tokens) % bias.length);
    const { numerators, inverse } = softmax(products, steps, headBias);
    const sums = await product(values.values, numerators, tokens);
    for (let token = 0; token < tokens; token++) {
      for (let i = 0; i < size; i++) {
        const factor = fround((values.scale[i] as number) * (inverse[token] as number));
        context[(token * heads + head) * size + i] = fround(sums[i * tokens + token] as number) * factor;
      }
    }
  }
  return context;
}

/** One head's columns of x [tokens, heads · size] as [tokens, size]. */
function headOf(x: Float32Array, head: number, heads: number, size: number): Float32Array {
  const part = new Float32Array(x.length / heads);
  for (let i = 0; i < part.length; i++) {
    part[i] = x[(Math.floor(i / size) * heads + head) * size + (i % size)] as number;
  }
  return part;
}

/** [rows, width] as [width, rows] */
function transposed(x: Float32Array, width: number): Float32Array {
  const rows = x.length / width;
  return x.map((_, i) => x[(i % rows) * width + Math.floor(i / rows)] as number);
}

/**
 * Keys as 0…127 steps above each channel's least, one step for all: what all keys have in common adds the same to all of a
 * query's scores, which a softmax does not see.
 *
 * @param x [tokens, size]
 */
function quantizeKeys(x: Float32Array, size: number): { values: Int8Array; scale: number } {
  const least = x.slice(0, size);
  const greatest = x.slice(0, size);
  x.forEach((value, at) => {
    least[at % size] = Math.min(least[at % size] as number, value);
    greatest[at % size] = Math.max(greatest[at % size] as number, value);
  });
  const extent = greatest.reduce((most, high, i) => Math.max(most, fround(high - (least[i] as number))), LEAST_EXTENT);
  const inverse = fround(U7.greatest / extent);
  const values = Int8Array.from(x, (value, at) =>
    Math.min(nearest(fround(fround(value - (least[at % size] as number)) * inverse)), U7.greatest),
  );
  return { values, scale: fround(extent / U7.greatest) };
}

/**
 * Each row's 2^(score − greatest) in 7 bits, and one over the sum of these. Scores are counted in parts.
 *
 * @param products [tokens, tokens]
 * @param steps [tokens], what a row's products are multiples of
 * @param bias [tokens, tokens], added
 */
function softmax(
  products: Int32Array,
  steps: Float32Array,
  bias: Float32Array | undefined,
): { numerators: Int8Array; inverse: Float32Array } {
  const tokens = steps.length;
  const numerators = new Int8Array(products.length);
  const inverse = new Float32Array(tokens);
  steps.forEach((step, row) => {
    const start = row * tokens;
    const scores = Float32Array.from(products.subarray(start, start + tokens), (value, i) => {
      const score = fround(fround(value) * fround(step * PARTS));
      return bias ? score + fround(fround((bias[start + i] as number) * LOG2_E) * PARTS) : score;
    });
    const greatest = scores.reduce((most, score) => Math.max(most, score));
    let sum = 0;
    scores.forEach((score, i) => {
      numerators[start + i] = numerator(fround(greatest - score));
      sum += numerators[start + i] as number;
    });
    // Infinite where a row is NaN, infinite or hidden throughout, which makes its values NaN.
    inverse[row] = 1 / sum;
  });
  return { numerators, inverse };
}
