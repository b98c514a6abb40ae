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
  /** Normalizes the input of attention where layers normalize first, the residual sum otherwise; undefined for none. */
  readonly attentionNorm: LayerNormWeights | undefined;
  /** The linear layer that is activated: the gate projection where the layer is gated. */
  readonly intermediate: LinearWeights;
  /** Multiplies the activation; undefined for layers that are not gated. */
  readonly upProjection: LinearWeights | undefined;
  readonly output: LinearWeights;
  /** As `attentionNorm`, for the feed-forward part. */
  readonly feedForwardNorm: LayerNormWeights;
}

export interface EncoderWeights {
  /** [vocab, embedding], float32. */
  readonly tokens: Tensor;
  /** [positions, embedding], float32; undefined for encoders with rotary positions. */
  readonly position: Tensor | undefined;
  /** [types, embedding]; undefined for encoders without token types. */
  readonly tokenType: Tensor | undefined;
  readonly norm: LayerNormWeights;
  /** Maps embeddings to the hidden size; undefined for encoders without. */
  readonly projection: LinearWeights | undefined;
  /** [buckets, heads], added to scores by relative position. */
  readonly relativePosition: Tensor | undefined;
  /** By layer; layers that share weights are the same object. */
  readonly layers: readonly EncoderLayer[];
  /** Normalizes the output of encoders whose layers normalize first. */
  readonly finalNorm: LayerNormWeights | undefined;
}

/**
 * Picks an encoder's weights out of a checkpoint by its family's names, with or without the prefix of models with a task
 * head.
 *
 * @throws BertEdgeError `checkpoint_invalid` naming the tensor that is missing, has another shape than config.json says, or
 *   has NaN or infinite numbers. Probe texts do not find these numbers: they read few rows of the token embedding table.
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

/** Returns the names of a checkpoint's tensors, with an empty prefix if the tensors have none. */
export function namesOf({ config, weights }: Encoder): EncoderNames {
  const { names: known } = families[config.modelType] as Family;
  const bare = known.map((names) => ({ ...names, prefix: "" }));
  const isThere = ({ prefix, norm }: EncoderNames) => weights.has(`${prefix}${norm}.weight`);
  return [...known, ...bare].find(isThere) ?? { ...known[0], prefix: "" };
}
