import { int, ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { float32Scalar, int64s } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { writeLinear } from "./layers.ts";
import { type Rotation, writeRotated } from "./rotary-positions.ts";
import type { LinearWeights } from "./take-weights.ts";

/** Inputs of attention that depend on token positions. */
export interface AttentionPositions {
  /**
   * Biases that are added to the attention scores. Shape of each: [batch or 1, heads or 1, sequence or 1, sequence].
   */
  readonly biases: readonly Value[];
  /** Rotary embedding of queries and keys; undefined for encoders with a position table. */
  readonly rotation: Rotation | undefined;
}

/**
 * Writes multi-head attention: softmax(q · kᵀ / √size + biases) · v for each head, https://arxiv.org/abs/1706.03762,
 * section 3.2.
 *
 * @param x [batch, sequence, hidden]
 * @returns [batch, sequence, hidden], the input of the layer's output projection
 */
export function writeAttention(
  g: GraphWriter,
  name: string,
  x: Value,
  layer: Pick<EncoderLayer, "query" | "key" | "value">,
  { heads, hiddenSize: hidden }: EncoderConfig,
  { biases, rotation }: AttentionPositions,
): Value {
  const size = hidden / heads;
  const split = g.constant("split_heads", int64s(0, 0, heads, size));
  const projected = (part: string, weights: LinearWeights, perm: number[]) => {
    const perHead = g.op(`${name}.${part}.heads`, "Reshape", [writeLinear(g, `${name}.${part}`, x, weights), split]);
    return g.op(`${name}.${part}.moved`, "Transpose", [perHead], { perm: ints(...perm) });
  };
  const rotate = (part: string, weights: LinearWeights, by: Rotation) =>
    writeRotated(g, `${name}.${part}.rotated`, projected(part, weights, [0, 2, 1, 3]), size, by);

  const query = rotation ? rotate("query", layer.query, rotation) : projected("query", layer.query, [0, 2, 1, 3]);
  const key = rotation
    ? g.op(`${name}.key.transposed`, "Transpose", [rotate("key", layer.key, rotation)], { perm: ints(0, 1, 3, 2) })
    : projected("key", layer.key, [0, 2, 3, 1]);
  const value = projected("value", layer.value, [0, 2, 1, 3]);
  const scores = g.op(`${name}.scores`, "MatMul", [query, key]);
  const scaled = g.op(`${name}.scaled`, "Div", [scores, g.constant("sqrt_head_size", float32Scalar(Math.sqrt(size)))]);
  const masked = biases.reduce((scores, bias, i) => g.op(`${name}.masked.${i}`, "Add", [scores, bias]), scaled);
  const probabilities = g.op(`${name}.softmax`, "Softmax", [masked], { axis: int(-1) });
  const context = g.op(`${name}.context`, "MatMul", [probabilities, value]);
  const moved = g.op(`${name}.context.moved`, "Transpose", [context], { perm: ints(0, 2, 1, 3) });
  return g.op(name, "Reshape", [moved, g.constant("join_heads", int64s(0, 0, hidden))]);
}
