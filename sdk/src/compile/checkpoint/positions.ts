import { int, type Value } from "../graph/node.ts";
import { int64s, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import type { GraphWriter } from "./graph-writer.ts";

export const int64 = (g: GraphWriter, value: number): Value =>
  g.constant(`int64_${value}`, tensor("int64", [], BigInt64Array.of(BigInt(value))));

export const axes = (g: GraphWriter, ...values: number[]): Value =>
  g.constant(`axes${values.join("")}`, int64s(...values));

/** Writes the positions 0, 1, … of the token ids `ids` [batch, sequence]. Output: [sequence]. */
export function writeRange(g: GraphWriter, name: string, ids: Value): Value {
  const length = g.op(`${name}.length`, "Gather", [g.op(`${name}.shape`, "Shape", [ids]), int64(g, 1)]);
  return g.op(name, "Range", [int64(g, 0), length, int64(g, 1)]);
}

/**
 * Writes the offset of every key from every query: the key's position minus the query's position. Output: [sequence,
 * sequence], one row per query.
 */
export function writeOffsets(g: GraphWriter, name: string, ids: Value): Value {
  const positions = writeRange(g, `${name}.positions`, ids);
  const keys = g.op(`${name}.keys`, "Unsqueeze", [positions, axes(g, 0)]);
  const queries = g.op(`${name}.queries`, "Unsqueeze", [positions, axes(g, 1)]);
  return g.op(name, "Sub", [keys, queries]);
}

/**
 * Writes positions as RoBERTa counts them (https://github.com/facebookresearch/fairseq, make_positions). Padding has
 * the position `padding`, the other tokens have the positions `padding + 1`, `padding + 2`, … Output: [batch, sequence]
 *
 * @param padding id of the padding token
 */
export function writePositionsAfterPadding(g: GraphWriter, name: string, ids: Value, padding: number): Value {
  const isPadding = g.op("is_padding", "Equal", [ids, int64(g, padding)]);
  const isToken = g.op("is_token", "Cast", [g.op("is_not_padding", "Not", [isPadding])], { to: int(dataTypes.int64) });
  const count = g.op("token_count", "CumSum", [isToken, int64(g, 1)]);
  return g.op(name, "Add", [g.op("token_position", "Mul", [count, isToken]), int64(g, padding)]);
}
