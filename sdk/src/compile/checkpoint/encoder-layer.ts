import type { Value } from "../graph/node.ts";
import { int, ints } from "../graph/node.ts";
import { float32Scalar, int64s } from "../graph/tensor.ts";
import { type RelativePositions, writePositionTerms } from "./disentangled-attention.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { activationFormulas, writeLinear, writeNorm } from "./layers.ts";
import { type Rotation, writeRotated } from "./rotary-positions.ts";
import type { LayerNormWeights, LinearWeights } from "./take-weights.ts";

/** Function that writes one layer, or one part of it: [batch, sequence, hidden] → [batch, sequence, hidden]. */
type LayerFormula = (
  g: GraphWriter,
  name: string,
  x: Value,
  layer: EncoderLayer,
  config: EncoderConfig,
  positions: AttentionPositions,
) => Value;

/**
 * Post-norm layer: y = LayerNorm(attention(x) + x), then LayerNorm(feedForward(y) + y), https://arxiv.org/abs/1706.03762,
 * section 3.1
 */
export const postNormLayer: LayerFormula = (g, name, x, layer, config, positions) => {
  const normalize = normalizer(g, name, config);
  const context = selfAttention(g, `${name}.attention`, x, layer, config, positions);
  const residual = g.op(`${name}.attention.residual`, "Add", [context, x]);
  const attended = secondNorm(g, name, x, normalize("attention.norm", residual, layer.attentionNorm), layer, config);
  const output = feedForward(g, name, attended, layer, config);
  return normalize("norm", g.op(`${name}.residual`, "Add", [output, attended]), layer.feedForwardNorm);
};

/** Pre-norm layer: y = attention(LayerNorm(x)) + x, then feedForward(LayerNorm(y)) + y, https://arxiv.org/abs/2002.04745 */
export const preNormLayer: LayerFormula = (g, name, x, layer, config, positions) => {
  const normalize = normalizer(g, name, config);
  const read = normalize("attention.norm", x, layer.attentionNorm);
  const context = selfAttention(g, `${name}.attention`, read, layer, config, positions);
  const attended = g.op(`${name}.attention.residual`, "Add", [context, x]);
  const output = feedForward(g, name, normalize("norm", attended, layer.feedForwardNorm), layer, config);
  return g.op(`${name}.residual`, "Add", [output, attended]);
};

/** Writes LayerNorm(x + attended). Returns `attended` as it is for layers without this second normalization. */
function secondNorm(
  g: GraphWriter,
  name: string,
  x: Value,
  attended: Value,
  { secondAttentionNorm }: EncoderLayer,
  config: EncoderConfig,
): Value {
  if (!secondAttentionNorm) return attended;
  const residual = g.op(`${name}.attention.second_residual`, "Add", [attended, x]);
  return writeNorm(g, `${name}.attention.second_norm`, residual, secondAttentionNorm, config);
}

/** Returns a function that writes a normalization. Without weights, that function returns `x` as it is. */
const normalizer =
  (g: GraphWriter, name: string, config: EncoderConfig) =>
  (part: string, x: Value, norm: LayerNormWeights | undefined): Value =>
    norm ? writeNorm(g, `${name}.${part}`, x, norm, config) : x;

const selfAttention: LayerFormula = (g, name, x, layer, config, positions) =>
  writeLinear(g, `${name}.output`, writeAttention(g, name, x, layer, config, positions), layer.attentionOutput);

/**
 * Writes a feed-forward block, https://arxiv.org/abs/2002.05202
 *
 *     activation(x · W + b) · V + c                   without a gate
 *     (activation(x · W + b) ⊗ (x · U + a)) · V + c   with a gate
 */
function feedForward(
  g: GraphWriter,
  name: string,
  x: Value,
  { intermediate, upProjection, output }: EncoderLayer,
  { activation }: EncoderConfig,
): Value {
  const inner = writeLinear(g, `${name}.intermediate`, x, intermediate);
  const activated = activationFormulas[activation](g, `${name}.activation`, inner);
  const gated = upProjection
    ? g.op(`${name}.gated`, "Mul", [activated, writeLinear(g, `${name}.up`, x, upProjection)])
    : activated;
  return writeLinear(g, `${name}.output`, gated, output);
}

/** Inputs of attention that depend on token positions. */
interface AttentionPositions {
  /**
   * Biases that are added to the attention scores. Shape of each: [batch or 1, heads or 1, sequence or 1, sequence].
   */
  readonly biases: readonly Value[];
  /** Rotary embedding of queries and keys; undefined for layers without a rotary embedding. */
  readonly rotation: Rotation | undefined;
  /** Relative positions that scores depend on; undefined for encoders without disentangled attention. */
  readonly relative: RelativePositions | undefined;
}

/**
 * Writes multi-head attention: softmax(q · kᵀ / √(size · terms) + biases) · v for each head, https://arxiv.org/abs/1706.03762,
 * section 3.2.
 *
 * @param x [batch, sequence, hidden]
 * @returns [batch, sequence, hidden], the input of the layer's output projection
 */
function writeAttention(
  g: GraphWriter,
  name: string,
  x: Value,
  layer: Pick<EncoderLayer, "query" | "key" | "value" | "queryNorm" | "keyNorm" | "positionKey" | "positionQuery">,
  config: EncoderConfig,
  { biases, rotation, relative }: AttentionPositions,
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
  const turned = (part: string, heads: Value) =>
    rotation ? writeRotated(g, `${name}.${part}.rotated`, heads, size, rotation) : heads;

  const query = turned("query", queries([0, 2, 1, 3]));
  // Keys are needed in two layouts if they are rotated, or if scores also depend on positions.
  const keyHeads = rotation || relative ? turned("key", keys([0, 2, 1, 3])) : undefined;
  const key = keyHeads
    ? g.op(`${name}.key.transposed`, "Transpose", [keyHeads], { perm: ints(0, 1, 3, 2) })
    : keys([0, 2, 3, 1]);
  const value = projected("value", layer.value, undefined, [0, 2, 1, 3]);
  const scores = g.op(`${name}.scores`, "MatMul", [query, key]);
  const root = float32Scalar(Math.sqrt(size * config.scoreTerms));
  const scaled = g.op(`${name}.scaled`, "Div", [scores, g.constant("sqrt_head_size", root)]);
  const terms =
    relative && keyHeads ? writePositionTerms(g, name, { query, key: keyHeads }, layer, config, relative) : [];
  const masked = [...terms, ...biases].reduce(
    (scores, bias, i) => g.op(`${name}.masked.${i}`, "Add", [scores, bias]),
    scaled,
  );
  const probabilities = g.op(`${name}.softmax`, "Softmax", [masked], { axis: int(-1) });
  const context = g.op(`${name}.context`, "MatMul", [probabilities, value]);
  const moved = g.op(`${name}.context.moved`, "Transpose", [context], { perm: ints(0, 2, 1, 3) });
  return g.op(name, "Reshape", [moved, g.constant("join_heads", int64s(0, 0, hidden))]);
}
