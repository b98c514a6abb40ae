import { exp } from "./exp.ts";
import { fround, nearest } from "./float32.ts";
import type { IntegerProduct } from "./integer-product.ts";
import { type QuantizedRows, quantizeRows, quantizeRowsSymmetric, U7 } from "./quantize-rows.ts";

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
    const keys = quantizeRows(part(key), size, U7);
    const values = quantizeRowsSymmetric(transposed(part(value), size), tokens);
    const products = await product(queries.values, keys.values, size);
    const headBias = bias?.subarray((head * tokens * tokens) % bias.length);
    const { numerators, inverse } = softmax(scores(products, queries, keys, scale, headBias), tokens);
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

/** Σ q (k − z) = Σ qk − z Σ q, scaled; [tokens, tokens] */
function scores(
  products: Int32Array,
  queries: Pick<QuantizedRows, "scale" | "sum">,
  keys: QuantizedRows,
  scale: number,
  bias: Float32Array | undefined,
): Float32Array {
  const tokens = keys.scale.length;
  const result = new Float32Array(products.length);
  for (let row = 0; row < tokens; row++) {
    const rowScale = fround((queries.scale[row] as number) * fround(scale));
    for (let column = 0; column < tokens; column++) {
      const at = row * tokens + column;
      const whole = (products[at] as number) - (keys.zero[column] as number) * (queries.sum[row] as number);
      const score = fround(fround(whole) * fround(rowScale * (keys.scale[column] as number)));
      result[at] = bias ? score + (bias[at] as number) : score;
    }
  }
  return result;
}

/** Each row's exp(score − greatest) in 7 bits, and one over the sum of these. */
function softmax(rows: Float32Array, tokens: number): { numerators: Int8Array; inverse: Float32Array } {
  const numerators = new Int8Array(rows.length);
  const inverse = new Float32Array(tokens);
  for (let row = 0; row < tokens; row++) {
    const [start, end] = [row * tokens, (row + 1) * tokens];
    let greatest = Number.NEGATIVE_INFINITY;
    for (let i = start; i < end; i++) greatest = Math.max(greatest, rows[i] as number);
    let sum = 0;
    for (let i = start; i < end; i++) {
      const numerator = nearest(fround(exp(fround((rows[i] as number) - greatest)) * U7.greatest));
      numerators[i] = numerator;
      sum += numerator;
    }
    inverse[row] = 1 / sum;
  }
  return { numerators, inverse };
}
