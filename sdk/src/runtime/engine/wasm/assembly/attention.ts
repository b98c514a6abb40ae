import { quantizeKeys, quantizeValues } from "./attention-operands";
import { multiplyContext, multiplyScores } from "./multiply";
import { quantizeSymmetric } from "./quantize";
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
