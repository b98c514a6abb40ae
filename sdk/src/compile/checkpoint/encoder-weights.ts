import type { Tensor } from "../graph/tensor.ts";
import type { Encoder } from "./checkpoint.ts";
import type { EncoderNames, LayerNames, LinearName } from "./encoder-names.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import { type LayerNorm, type Linear, taker } from "./take-weights.ts";

export interface EncoderLayer {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly attentionOutput: Linear;
  /** Of what attention reads where layers normalize first, of its sum with that otherwise; undefined for none. */
  readonly attentionNorm: LayerNorm | undefined;
  /** What is activated. */
  readonly intermediate: Linear;
  /** What multiplies the activation; undefined where it is not gated. */
  readonly factor: Linear | undefined;
  readonly output: Linear;
  /** As attentionNorm, of the feed-forward part. */
  readonly feedForwardNorm: LayerNorm;
}

export interface EncoderWeights {
  /** [vocab, embedding], float32. */
  readonly word: Tensor;
  /** [positions, embedding], float32; undefined for encoders with rotary positions. */
  readonly position: Tensor | undefined;
  /** [types, embedding]; undefined for encoders without token types. */
  readonly tokenType: Tensor | undefined;
  readonly norm: LayerNorm;
  /** From the embeddings' width to the hidden one; undefined without. */
  readonly projection: Linear | undefined;
  /** [buckets, heads], added to scores by relative position. */
  readonly relativePosition: Tensor | undefined;
  /** One a layer; the same object where layers share weights. */
  readonly layers: readonly EncoderLayer[];
  /** Of the result, for encoders whose layers normalize first. */
  readonly finalNorm: LayerNorm | undefined;
}

/**
 * Picks an encoder's weights out of a checkpoint by its family's names, with or without the prefix that models with a
 * task head carry.
 *
 * @throws BertEdgeError `checkpoint_invalid` naming the tensor that is missing, of another shape than config.json says, or
 *   not finite. The checks on probe texts cannot find the latter: few of a vocabulary's rows are in them.
 */
export function encoderWeights(encoder: Encoder): EncoderWeights {
  const { config } = encoder;
  const names = namesOf(encoder);
  const { hidden_size: hidden, embedding_size: embedding, intermediate_size: inner } = config;
  const take = taker(encoder, names.prefix);
  const layerNorm = (name: string, width: number) => take.layerNorm(name, width, config.norm_bias);
  const layerOf = (layer: LayerNames): EncoderLayer => {
    const attention = (name: LinearName) => take.linear(name, hidden, hidden, config.attention_bias);
    return {
      query: attention(layer.query),
      key: attention(layer.key),
      value: attention(layer.value),
      attentionOutput: attention(layer.attentionOutput),
      attentionNorm: layer.attentionNorm === undefined ? undefined : layerNorm(layer.attentionNorm, hidden),
      intermediate: take.linear(layer.intermediate, inner, hidden, config.mlp_bias),
      factor: config.gated && layer.factor ? take.linear(layer.factor, inner, hidden, config.mlp_bias) : undefined,
      output: take.linear(layer.output, hidden, inner, config.mlp_bias),
      feedForwardNorm: layerNorm(layer.feedForwardNorm, hidden),
    };
  };

  const groups = Array.from({ length: config.num_hidden_groups }, (_, group) => layerOf(names.layer(group)));
  const layersPerGroup = config.num_hidden_layers / config.num_hidden_groups;
  const { type_vocab_size: types, relative_attention_num_buckets: buckets, rope_theta } = config;
  return {
    word: take.tensor(`${names.words}.weight`, config.vocab_size, embedding),
    position: rope_theta
      ? undefined
      : take.tensor("embeddings.position_embeddings.weight", config.max_position_embeddings, embedding),
    tokenType: types > 0 ? take.tensor("embeddings.token_type_embeddings.weight", types, embedding) : undefined,
    norm: layerNorm(names.norm, embedding),
    projection:
      names.projection && config.embedding_projection
        ? take.linear(names.projection, hidden, embedding, true)
        : undefined,
    relativePosition:
      buckets === undefined
        ? undefined
        : take.tensor("encoder.relative_attention_bias.weight", buckets, config.num_attention_heads),
    layers: Array.from(
      { length: config.num_hidden_layers },
      (_, i) => groups[Math.floor(i / layersPerGroup)] as EncoderLayer,
    ),
    finalNorm: names.finalNorm === undefined ? undefined : layerNorm(names.finalNorm, hidden),
  };
}

/** The names that a checkpoint's tensors have, without a prefix that they do not carry. */
export function namesOf({ config, weights }: Encoder): EncoderNames {
  const { names: known } = families[config.model_type] as Family;
  const bare = known.map((names) => ({ ...names, prefix: "" }));
  const isThere = ({ prefix, norm }: EncoderNames) => weights.has(`${prefix}${norm}.weight`);
  return [...known, ...bare].find(isThere) ?? { ...known[0], prefix: "" };
}
