import type { Value } from "../graph/node.ts";
import { int, ints } from "../graph/node.ts";
import { float32Scalar, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { DisentangledAttention } from "./encoder-config.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, int64, writeOffsets } from "./layers.ts";

/** Score bias of masked positions. With this bias, exp(score) is 0 in float32, but the score is still finite. */
const MASKED = -1e9;

/**
 * Score bias of positions outside the attention window. With this bias too, exp(score) is 0, and the score is finite
 * even in half precision. The bias is closer to 0 than `MASKED`. Therefore, if the window of a padding token contains only
 * padding, this padding token attends to tokens outside the window.
 */
const BEYOND = -1e4;

/** Converts the attention mask to float32: 1 for tokens, 0 for padding. */
export const asFloat = (g: GraphWriter, name: string, mask: Value): Value =>
  g.op(name, "Cast", [mask], { to: int(dataTypes.float32) });

/** Writes (1 − mask) · MASKED: [batch, sequence] → [batch, 1, 1, sequence]. */
export function maskBias(g: GraphWriter, mask: Value): Value {
  const present = asFloat(g, "mask", mask);
  const absent = g.op("absent", "Sub", [g.constant("one", float32Scalar(1)), present]);
  const bias = g.op("row_bias", "Mul", [absent, g.constant("masked", float32Scalar(MASKED))]);
  return g.op("bias", "Unsqueeze", [bias, axes(g, 1, 2)]);
}

/**
 * Writes 0 for keys at most `radius` tokens before or after the query, and BEYOND for all others: local attention,
 * https://arxiv.org/abs/2004.05150, section 3.1. Output: [1, 1, sequence, sequence].
 */
export function windowBias(g: GraphWriter, radius: number, ids: Value): Value {
  const name = `window.${radius}`;
  const distance = g.op(`${name}.distance`, "Abs", [writeOffsets(g, `${name}.offsets`, ids)]);
  const isNear = g.op(`${name}.near`, "LessOrEqual", [distance, int64(g, radius)]);
  const [zero, beyond] = [g.constant("zero", float32Scalar(0)), g.constant("beyond", float32Scalar(BEYOND))];
  return g.op(name, "Unsqueeze", [g.op(`${name}.bias`, "Where", [isNear, zero, beyond]), axes(g, 0, 1)]);
}

/**
 * Writes ALiBi's score biases for attention in both directions: −slope · |distance|, with a slope for each head
 * (https://arxiv.org/abs/2108.12409, and https://github.com/ofirpress/attention_with_linear_biases/issues/5).
 *
 * @returns [1, heads, sequence, sequence]
 */
export function writeLinearBias(g: GraphWriter, heads: number, ids: Value): Value {
  const distance = g.op("alibi.distance", "Abs", [writeOffsets(g, "alibi.offsets", ids)]);
  const falling = Float32Array.from(alibiSlopes(heads), (slope) => -slope);
  const slopes = g.constant("alibi.slopes", tensor("float32", [heads, 1, 1], falling));
  const perHead = g.op("alibi.heads", "Mul", [asFloat(g, "alibi.distance_float", distance), slopes]);
  return g.op("alibi", "Unsqueeze", [perHead, axes(g, 0)]);
}

/**
 * Writes MPNet's score biases (https://arxiv.org/abs/2004.09297): one number per head and bucket of relative positions.
 *
 * @param table [buckets, heads]
 * @param positions maximum text length in tokens
 * @returns [1, heads, sequence, sequence]
 */
export function writeRelativeBias(g: GraphWriter, table: Tensor, positions: number, ids: Value): Value {
  const row = g.op("offset_row", "Add", [writeOffsets(g, "offset", ids), int64(g, positions - 1)]);
  const perPair = g.op("relative", "Gather", [g.constant("bias_by_offset", biasByOffset(table, positions)), row]);
  const perHead = g.op("relative.heads", "Transpose", [perPair], { perm: ints(2, 0, 1) });
  return g.op("relative_bias", "Unsqueeze", [perHead, axes(g, 0)]);
}

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
function biasByOffset(table: Tensor, positions: number): Tensor {
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
