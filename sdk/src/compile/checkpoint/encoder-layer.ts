import type { Value } from "../graph/node.ts";
import { activationFormulas } from "./activation.ts";
import { type AttentionPositions, writeAttention } from "./attention.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { writeLinear, writeNorm } from "./layers.ts";
import type { LayerNormWeights } from "./take-weights.ts";

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

/** Writes LayerNorm(x + attended). Layers without this second normalization return `attended` as it is. */
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
