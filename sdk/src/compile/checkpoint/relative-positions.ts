import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { DisentangledAttention } from "./encoder-config.ts";

/**
 * From this distance on, all keys on the same side of the query share one bucket. The number is fixed in transformers'
 * MPNetEncoder.relative_position_bucket.
 */
const MAX_DISTANCE = 128;

/**
 * Returns T5's bucket of an offset (https://arxiv.org/abs/1910.10683, section 2.1). Half of the buckets are for keys
 * before the query, half for keys after it. In each half, every small distance has its own bucket. Larger distances
 * share buckets, which become wider with the distance. Computes in float32, as transformers does.
 *
 * @param offset position of the key minus the position of the query
 */
function bucketOf(offset: number, buckets: number): number {
  const half = buckets / 2;
  const near = Math.floor(half / 2);
  const distance = Math.abs(offset);
  const side = offset > 0 ? half : 0;
  if (distance < near) return side + distance;
  const { fround } = Math;
  const ratio = fround(fround(Math.log(fround(distance / near))) / fround(Math.log(MAX_DISTANCE / near)));
  return side + Math.min(near + Math.floor(fround(ratio * (half - near))), half - 1);
}

/**
 * Returns a table of score biases with one row for every offset between a key and a query. Row `offset + positions − 1`
 * has the biases of `offset`.
 *
 * @param table [buckets, heads]
 * @param positions maximum text length in tokens
 * @returns [2 · positions − 1, heads]
 */
export function biasByOffset(table: Tensor, positions: number): Tensor {
  const [buckets = 0, heads = 0] = table.shape;
  const values = toFloat32(table);
  const rows = Array.from({ length: 2 * positions - 1 }, (_, row) => {
    const bucket = bucketOf(row - positions + 1, buckets);
    return values.subarray(bucket * heads, (bucket + 1) * heads);
  });
  const data = new Float32Array(rows.length * heads);
  for (const [i, row] of rows.entries()) data.set(row, i * heads);
  return tensor("float32", [rows.length, heads], data);
}

/**
 * Returns ALiBi's slope for each head: powers of 2^(−8 / heads). If the number of heads is not a power of 2, the heads
 * after the largest power of 2 get every other slope of twice this power, as in the authors' code:
 * https://github.com/ofirpress/attention_with_linear_biases
 */
export function alibiSlopes(heads: number): number[] {
  const power = 2 ** Math.floor(Math.log2(heads));
  const slopes = Array.from({ length: power }, (_, head) => 2 ** ((-8 * (head + 1)) / power));
  if (power === heads) return slopes;
  const others = alibiSlopes(2 * power).filter((_, i) => i % 2 === 0);
  return [...slopes, ...others.slice(0, heads - power)];
}

/**
 * Returns the row of a relative position in DeBERTa's table of position embeddings. Row `span` is the distance 0. Keys before
 * the query have later rows. In half of the buckets, every distance has its own bucket; far distances share buckets, which
 * become wider with the distance. Computes in float32, as transformers does.
 *
 * @param offset position of the key minus the position of the query
 */
export function relativeRow(offset: number, { span, buckets, maxDistance }: DisentangledAttention): number {
  const distance = Math.abs(offset);
  const bucket = buckets === undefined ? distance : logBucket(distance, buckets, maxDistance);
  return Math.min(Math.max(span - Math.sign(offset) * bucket, 0), 2 * span - 1);
}

function logBucket(distance: number, buckets: number, maxDistance: number): number {
  const { fround } = Math;
  const middle = Math.floor(buckets / 2);
  if (distance <= middle) return distance;
  const ratio = fround(
    fround(Math.log(fround(distance / middle))) / fround(Math.log(fround((maxDistance - 1) / middle))),
  );
  return Math.ceil(fround(ratio * (middle - 1))) + middle;
}
