import { int, ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { float32Scalar, int64s } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { writeLinear, writeNorm } from "./layers.ts";
import { type Rotation, writeRotated } from "./rotary-positions.ts";
import type { LayerNormWeights, LinearWeights } from "./take-weights.ts";

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
  layer: Pick<EncoderLayer, "query" | "key" | "value" | "queryNorm" | "keyNorm">,
  config: EncoderConfig,
  { biases, rotation }: AttentionPositions,
): Value {
  const { heads, hiddenSize: hidden } = config;
  const size = hidden / heads;
  const split = g.constant("split_heads", int64s(0, 0, heads, size));
  const projected = (part: string, weights: LinearWeights, norm: LayerNormWeights | undefined, perm: number[]) => {
    const whole = writeLinear(g, `${name}.${part}`, x, weights);
    const normalized = norm ? writeNorm(g, `${name}.${part}.norm`, whole, norm, config) : whole;
    const perHead = g.op(`${name}.${part}.heads`, "Reshape", [normalized, split]);
    return g.op(`${name}.${part}.moved`, "Transpose", [perHead], { perm: ints(...perm) });
  };
  const queries = (perm: number[]) => projected("query", layer.query, layer.queryNorm, perm);
  const keys = (perm: number[]) => projected("key", layer.key, layer.keyNorm, perm);
  const rotate = (part: string, heads: Value, by: Rotation) =>
    writeRotated(g, `${name}.${part}.rotated`, heads, size, by);

  const query = rotation ? rotate("query", queries([0, 2, 1, 3]), rotation) : queries([0, 2, 1, 3]);
  const key = rotation
    ? g.op(`${name}.key.transposed`, "Transpose", [rotate("key", keys([0, 2, 1, 3]), rotation)], {
        perm: ints(0, 1, 3, 2),
      })
    : keys([0, 2, 3, 1]);
  const value = projected("value", layer.value, undefined, [0, 2, 1, 3]);
  const scores = g.op(`${name}.scores`, "MatMul", [query, key]);
  const scaled = g.op(`${name}.scaled`, "Div", [scores, g.constant("sqrt_head_size", float32Scalar(Math.sqrt(size)))]);
  const masked = biases.reduce((scores, bias, i) => g.op(`${name}.masked.${i}`, "Add", [scores, bias]), scaled);
  const probabilities = g.op(`${name}.softmax`, "Softmax", [masked], { axis: int(-1) });
  const context = g.op(`${name}.context`, "MatMul", [probabilities, value]);
  const moved = g.op(`${name}.context.moved`, "Transpose", [context], { perm: ints(0, 2, 1, 3) });
  return g.op(name, "Reshape", [moved, g.constant("join_heads", int64s(0, 0, hidden))]);
}
