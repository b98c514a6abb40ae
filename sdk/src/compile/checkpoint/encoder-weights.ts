import type { Tensor } from "../graph/tensor.ts";
import type { Encoder } from "./checkpoint.ts";
import type { EncoderNames, LayerNames, LinearName } from "./encoder-names.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";
import { type LayerNormWeights, type LinearWeights, weightTaker } from "./take-weights.ts";

export interface EncoderLayer {
  readonly query: LinearWeights;
  readonly key: LinearWeights;
  readonly value: LinearWeights;
  readonly attentionOutput: LinearWeights;
  /**
   * Normalizes the attention input in pre-norm layers, the residual sum in post-norm layers; undefined if the layer has
   * none.
   */
  readonly attentionNorm: LayerNormWeights | undefined;
  /** Linear layer before the activation; in gated layers, the gate projection. */
  readonly intermediate: LinearWeights;
  /** Up projection, multiplied with the activation; undefined for layers without a gate. */
  readonly upProjection: LinearWeights | undefined;
  readonly output: LinearWeights;
  /** Normalization for the feed-forward part, placed like `attentionNorm`. */
  readonly feedForwardNorm: LayerNormWeights;
}

export interface EncoderWeights {
  /** Token embedding table: [vocabulary, embedding], float32. */
  readonly tokens: Tensor;
  /** Position table: [positions, embedding], float32; undefined for encoders with rotary positions. */
  readonly position: Tensor | undefined;
  /** Token type table: [types, embedding]; undefined for encoders without token types. */
  readonly tokenType: Tensor | undefined;
  readonly norm: LayerNormWeights;
  /** Maps embeddings to the hidden size; undefined for encoders without a projection. */
  readonly projection: LinearWeights | undefined;
  /** Relative position biases of the attention scores: [buckets, heads]. */
  readonly relativePosition: Tensor | undefined;
  /** One entry per layer; layers that share weights have the same object. */
  readonly layers: readonly EncoderLayer[];
  /** Normalizes the encoder's output; only pre-norm encoders have it. */
  readonly finalNorm: LayerNormWeights | undefined;
}

/**
 * Picks an encoder's weights from a checkpoint by its family's tensor names, with or without the prefix of models with a
 * task head.
 *
 * @throws BertEdgeError `checkpoint_invalid` naming the tensor that is missing, has another shape than config.json says, or
 *   has NaN or infinite numbers. Probe texts would miss some of these numbers: they read few rows of the token embedding
 *   table.
 */
export function encoderWeights(encoder: Encoder): EncoderWeights {
  const { config } = encoder;
  const names = namesOf(encoder);
  const { hiddenSize: hidden, embeddingSize: embedding, intermediateSize: inner } = config;
  const take = weightTaker(encoder, names.prefix);
  const layerNorm = (name: string, width: number) => take.layerNorm(name, width, config.hasNormBias);
  const layerOf = (layer: LayerNames): EncoderLayer => {
    const attention = (name: LinearName) => take.linear(name, hidden, hidden, config.hasAttentionBias);
    return {
      query: attention(layer.query),
      key: attention(layer.key),
      value: attention(layer.value),
      attentionOutput: attention(layer.attentionOutput),
      attentionNorm: layer.attentionNorm === undefined ? undefined : layerNorm(layer.attentionNorm, hidden),
      intermediate: take.linear(layer.intermediate, inner, hidden, config.hasFeedForwardBias),
      upProjection:
        config.isGated && layer.upProjection
          ? take.linear(layer.upProjection, inner, hidden, config.hasFeedForwardBias)
          : undefined,
      output: take.linear(layer.output, hidden, inner, config.hasFeedForwardBias),
      feedForwardNorm: layerNorm(layer.feedForwardNorm, hidden),
    };
  };

  const groups = Array.from({ length: config.layerGroups }, (_, group) => layerOf(names.layer(group)));
  const layersPerGroup = config.layers / config.layerGroups;
  const { tokenTypes: types, relativePositionBuckets: buckets, rotaryTheta } = config;
  return {
    tokens: take.tensor(`${names.tokens}.weight`, config.vocabularySize, embedding),
    position: rotaryTheta
      ? undefined
      : take.tensor("embeddings.position_embeddings.weight", config.maxPositions, embedding),
    tokenType: types > 0 ? take.tensor("embeddings.token_type_embeddings.weight", types, embedding) : undefined,
    norm: layerNorm(names.norm, embedding),
    projection:
      names.projection && config.hasEmbeddingProjection
        ? take.linear(names.projection, hidden, embedding, true)
        : undefined,
    relativePosition:
      buckets === undefined ? undefined : take.tensor("encoder.relative_attention_bias.weight", buckets, config.heads),
    layers: Array.from({ length: config.layers }, (_, i) => groups[Math.floor(i / layersPerGroup)] as EncoderLayer),
    finalNorm: names.finalNorm === undefined ? undefined : layerNorm(names.finalNorm, hidden),
  };
}

/** Returns the names of a checkpoint's tensors. The prefix is empty if the tensors have none. */
export function namesOf({ config, weights }: Encoder): EncoderNames {
  const { names: known } = families[config.modelType] as Family;
  const bare = known.map((names) => ({ ...names, prefix: "" }));
  const isThere = ({ prefix, norm }: EncoderNames) => weights.has(`${prefix}${norm}.weight`);
  return [...known, ...bare].find(isThere) ?? { ...known[0], prefix: "" };
}
