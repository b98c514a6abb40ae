import { int, ints, type Value } from "../graph/node.ts";
import { float32Scalar, type Tensor, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, int64, writeOffsets } from "./positions.ts";
import { alibiSlopes, biasByOffset } from "./relative-positions.ts";

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
