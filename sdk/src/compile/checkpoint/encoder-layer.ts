import type { Value } from "../graph/node.ts";
import { activation } from "./activation.ts";
import { type AttentionPositions, attention } from "./attention.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { EncoderLayer } from "./encoder-weights.ts";
import type { GraphWriter } from "./graph-writer.ts";
import { layerNorm, linear } from "./layers.ts";
import type { LayerNorm } from "./take-weights.ts";

/** One layer of an encoder, [batch, sequence, hidden] → [batch, sequence, hidden]. */
type LayerFormula = (
  g: GraphWriter,
  name: string,
  x: Value,
  layer: EncoderLayer,
  config: EncoderConfig,
  positions: AttentionPositions,
) => Value;

/** y = LayerNorm(attention(x) + x), then LayerNorm(feedForward(y) + y): https://arxiv.org/abs/1706.03762, section 3.1 */
export const postNormLayer: LayerFormula = (g, name, x, layer, config, positions) => {
  const normalize = normalizer(g, name, config);
  const context = selfAttention(g, `${name}.attention`, x, layer, config, positions);
  const residual = g.op(`${name}.attention.residual`, "Add", [context, x]);
  const attended = normalize("attention.norm", residual, layer.attentionNorm);
  const output = feedForward(g, name, attended, layer, config);
  return normalize("norm", g.op(`${name}.residual`, "Add", [output, attended]), layer.feedForwardNorm);
};

/** y = attention(LayerNorm(x)) + x, then feedForward(LayerNorm(y)) + y: https://arxiv.org/abs/2002.04745 */
export const preNormLayer: LayerFormula = (g, name, x, layer, config, positions) => {
  const normalize = normalizer(g, name, config);
  const read = normalize("attention.norm", x, layer.attentionNorm);
  const context = selfAttention(g, `${name}.attention`, read, layer, config, positions);
  const attended = g.op(`${name}.attention.residual`, "Add", [context, x]);
  const output = feedForward(g, name, normalize("norm", attended, layer.feedForwardNorm), layer, config);
  return g.op(`${name}.residual`, "Add", [output, attended]);
};

/** A layer's normalizations; undefined is none. */
const normalizer =
  (g: GraphWriter, name: string, { layer_norm_eps }: EncoderConfig) =>
  (part: string, x: Value, norm: LayerNorm | undefined): Value =>
    norm ? layerNorm(g, `${name}.${part}`, x, norm, layer_norm_eps) : x;

const selfAttention: LayerFormula = (g, name, x, layer, config, positions) =>
  linear(g, `${name}.output`, attention(g, name, x, layer, config, positions), layer.attentionOutput);

/** activation(x · W + b) · V + c, or with gates (activation(x · W + b) ⊗ (x · U + a)) · V + c, https://arxiv.org/abs/2002.05202 */
function feedForward(
  g: GraphWriter,
  name: string,
  x: Value,
  { intermediate, factor, output }: EncoderLayer,
  { hidden_act }: EncoderConfig,
): Value {
  const activated = activation[hidden_act](g, `${name}.activation`, linear(g, `${name}.intermediate`, x, intermediate));
  const gated = factor ? g.op(`${name}.gated`, "Mul", [activated, linear(g, `${name}.factor`, x, factor)]) : activated;
  return linear(g, `${name}.output`, gated, output);
}
