import { int, ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { float32Scalar, type Tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { axes, int64, offsets } from "./positions.ts";
import { biasByOffset } from "./relative-positions.ts";

/** Added to the score of a masked position: exp of it is 0 in float32, and a sum with it stays finite. */
const MASKED = -1e9;

/**
 * Added to the score of a position beyond a window: exp of it is 0 as well, and a sum with it stays finite in half precision.
 * Padding has queries that see only padding; beyond their window there are tokens, so that not all of their scores are −∞.
 */
const BEYOND = -1e4;

/** The mask as numbers: 1 where a token is. */
export const asFloat = (g: GraphWriter, name: string, mask: Value): Value =>
  g.op(name, "Cast", [mask], { to: int(dataTypes.float32) });

/** (1 − mask) · MASKED, from the mask [batch, sequence], as [batch, 1, 1, sequence] */
export function maskBias(g: GraphWriter, mask: Value): Value {
  const present = asFloat(g, "mask", mask);
  const absent = g.op("absent", "Sub", [g.constant("one", float32Scalar(1)), present]);
  const bias = g.op("row_bias", "Mul", [absent, g.constant("masked", float32Scalar(MASKED))]);
  return g.op("bias", "Unsqueeze", [bias, axes(g, 1, 2)]);
}

/**
 * 0 for keys at most `reach` tokens before or after the query, BEYOND for all others: local attention, as in
 * https://arxiv.org/abs/2004.05150, section 3.1. [1, 1, sequence, sequence]
 */
export function windowBias(g: GraphWriter, reach: number, ids: Value): Value {
  const name = `window.${reach}`;
  const distance = g.op(`${name}.distance`, "Abs", [offsets(g, `${name}.offsets`, ids)]);
  const isNear = g.op(`${name}.near`, "LessOrEqual", [distance, int64(g, reach)]);
  const [zero, beyond] = [g.constant("zero", float32Scalar(0)), g.constant("beyond", float32Scalar(BEYOND))];
  return g.op(name, "Unsqueeze", [g.op(`${name}.bias`, "Where", [isNear, zero, beyond]), axes(g, 0, 1)]);
}

/**
 * MPNet (https://arxiv.org/abs/2004.09297): a number per head and bucket of relative positions.
 *
 * @param table [buckets, heads]
 * @param positions tokens of the longest text
 * @returns [1, heads, sequence, sequence]
 */
export function relativeBias(g: GraphWriter, table: Tensor, positions: number, ids: Value): Value {
  const row = g.op("offset_row", "Add", [offsets(g, "offset", ids), int64(g, positions - 1)]);
  const perPair = g.op("relative", "Gather", [g.constant("bias_by_offset", biasByOffset(table, positions)), row]);
  const perHead = g.op("relative.heads", "Transpose", [perPair], { perm: ints(2, 0, 1) });
  return g.op("relative_bias", "Unsqueeze", [perHead, axes(g, 0)]);
}
