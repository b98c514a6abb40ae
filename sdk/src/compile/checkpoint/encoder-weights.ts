import type { Tensor } from "../graph/tensor.ts";
import type { EncoderNames, Family, LayerNames, LinearName } from "./families/family.ts";
import { families } from "./families/index.ts";
import type { Encoder } from "./take-weights.ts";
import { type LayerNormWeights, type LinearWeights, repeatHeads, weightTaker } from "./take-weights.ts";

export interface EncoderLayer {
  readonly query: LinearWeights;
  readonly key: LinearWeights;
  readonly value: LinearWeights;
  /** Layer normalizations of all queries and all keys; undefined for layers without them. */
  readonly queryNorm: LayerNormWeights | undefined;
  readonly keyNorm: LayerNormWeights | undefined;
  /**
   * Linear layers that project the embeddings of relative positions to keys (for content-to-position scores) and to queries
   * (for position-to-content scores). undefined for layers whose attention scores have no such term.
   */
  readonly positionKey: LinearWeights | undefined;
  readonly positionQuery: LinearWeights | undefined;
  readonly attentionOutput: LinearWeights;
  /**
   * Layer normalization of the attention part. Pre-norm layers normalize the input of this part. Post-norm layers
   * normalize the sum of the part's input and output. undefined if the layer has no such normalization.
   */
  readonly attentionNorm: LayerNormWeights | undefined;
  /**
   * Normalization of the sum of the layer's input and the result of `attentionNorm`, in post-norm layers; undefined for
   * layers that use the result of `attentionNorm` itself.
   */
  readonly secondAttentionNorm: LayerNormWeights | undefined;
  /** Linear layer before the activation; in gated layers, the gate projection. */
  readonly intermediate: LinearWeights;
  /** Up projection. Its result is multiplied with the result of the activation. undefined for layers without a gate. */
  readonly upProjection: LinearWeights | undefined;
  readonly output: LinearWeights;
  /**
   * Layer normalization of the feed-forward part. Pre-norm layers normalize the input of this part. Post-norm layers
   * normalize the sum of the part's input and output.
   */
  readonly feedForwardNorm: LayerNormWeights;
}

export interface EncoderWeights {
  /** Token embedding table: [vocabulary, embedding], float32. */
  readonly tokens: Tensor;
  /** Position table: [positions, embedding], float32; undefined for encoders without one. */
  readonly position: Tensor | undefined;
  /** Token type table: [types, embedding]; undefined for encoders without token types. */
  readonly tokenType: Tensor | undefined;
  /** Normalization of the embeddings; undefined for encoders that do not normalize them. */
  readonly norm: LayerNormWeights | undefined;
  /** Linear layer that maps embeddings to the hidden size; undefined for encoders without a projection. */
  readonly projection: LinearWeights | undefined;
  /** Relative position biases of the attention scores: [buckets, heads]. */
  readonly relativePosition: Tensor | undefined;
  /** Embeddings of relative positions: [2 · span, hidden]; undefined for encoders without them. */
  readonly relativeEmbeddings: Tensor | undefined;
  readonly relativeNorm: LayerNormWeights | undefined;
  /** One entry per layer. Layers that share weights are the same object. */
  readonly layers: readonly EncoderLayer[];
  /** Layer normalization of the encoder's output; undefined for post-norm encoders. */
  readonly finalNorm: LayerNormWeights | undefined;
}

/**
 * Picks an encoder's weights from a checkpoint by its family's tensor names. The names may have the prefix that models
 * with a task head use.
 *
 * Checks every weight for NaN and infinite numbers here, because the probe texts that `prepare` runs later read only a
 * few rows of the token embedding table.
 *
 * @throws BertEdgeError `checkpoint_invalid` with the name of a tensor that is missing, that has another shape than
 *   config.json says, or that holds NaN or infinite numbers
 */
export function encoderWeights(encoder: Encoder): EncoderWeights {
  const { config } = encoder;
  const names = namesOf(encoder);
  const { hiddenSize: hidden, embeddingSize: embedding, intermediateSize: inner } = config;
  const size = hidden / config.heads;
  const { disentangledAttention: disentangled } = config;
  const take = weightTaker(encoder, names.prefix);
  const norm = (name: string | undefined, width: number) =>
    name === undefined ? undefined : take.layerNorm(name, width, config.hasNormBias);
  const layerOf = (layer: LayerNames): EncoderLayer => {
    const attention = (name: LinearName, heads = config.heads) =>
      take.linear(name, heads * size, hidden, config.hasAttentionBias);
    const shared = (name: LinearName) =>
      repeatHeads(attention(name, config.keyValueHeads), config.keyValueHeads, config.heads);
    const position = (own: string | undefined, ofContent: LinearName) =>
      attention(disentangled?.sharesProjections || own === undefined ? ofContent : own);
    return {
      query: attention(layer.query),
      positionKey: disentangled?.hasContentToPosition ? position(layer.positionKey, layer.key) : undefined,
      positionQuery: disentangled?.hasPositionToContent ? position(layer.positionQuery, layer.query) : undefined,
      key: shared(layer.key),
      value: shared(layer.value),
      queryNorm: norm(layer.queryNorm, hidden),
      keyNorm: norm(layer.keyNorm, hidden),
      attentionOutput: attention(layer.attentionOutput),
      attentionNorm: norm(layer.attentionNorm, hidden),
      secondAttentionNorm: norm(layer.secondAttentionNorm, hidden),
      intermediate: take.linear(layer.intermediate, inner, hidden, config.hasIntermediateBias),
      upProjection:
        config.isGated && layer.upProjection
          ? take.linear(layer.upProjection, inner, hidden, config.hasIntermediateBias)
          : undefined,
      output: take.linear(layer.output, hidden, inner, config.hasOutputBias),
      feedForwardNorm: take.layerNorm(layer.feedForwardNorm, hidden, config.hasNormBias),
    };
  };

  const groups = Array.from({ length: config.layerGroups }, (_, group) => layerOf(names.layer(group)));
  const layersPerGroup = config.layers / config.layerGroups;
  const { tokenTypes: types, relativePositionBuckets: buckets } = config;
  return {
    tokens: take.tensor(`${names.tokens}.weight`, config.vocabularySize, embedding),
    position: config.hasPositionTable
      ? take.tensor("embeddings.position_embeddings.weight", config.maxPositions, embedding)
      : undefined,
    tokenType: types > 0 ? take.tensor("embeddings.token_type_embeddings.weight", types, embedding) : undefined,
    norm: norm(names.norm, embedding),
    projection:
      names.projection && config.hasEmbeddingProjection
        ? take.linear(names.projection, hidden, embedding, true)
        : undefined,
    relativePosition:
      buckets === undefined ? undefined : take.tensor("encoder.relative_attention_bias.weight", buckets, config.heads),
    relativeEmbeddings:
      disentangled && names.relativeEmbeddings
        ? take.tensor(`${names.relativeEmbeddings}.weight`, 2 * disentangled.span, hidden)
        : undefined,
    relativeNorm: disentangled?.normalizes ? norm(names.relativeNorm, hidden) : undefined,
    layers: Array.from({ length: config.layers }, (_, i) => groups[Math.floor(i / layersPerGroup)] as EncoderLayer),
    finalNorm: norm(names.finalNorm, hidden),
  };
}

/**
 * Returns the set of tensor names that a checkpoint uses. A family can have several sets, each with or without a prefix.
 * Counts for each set how many of three tensors the checkpoint has: the token embeddings and two linear layers of layer 0.
 * The set with the most tensors wins, so that the error for a missing tensor has the right name.
 */
export function namesOf({ config, weights }: Encoder): EncoderNames {
  const { names: known } = families[config.modelType] as Family;
  const bare = known.map((names) => ({ ...names, prefix: "" }));
  const count = ({ prefix, tokens, layer }: EncoderNames) => {
    const { query, intermediate } = layer(0);
    return [tokens, query, intermediate]
      .map((name) => (typeof name === "string" ? name : name.name))
      .filter((name) => weights.has(`${prefix}${name}.weight`)).length;
  };
  const [first, ...others] = [...bare, ...known] as [EncoderNames, ...EncoderNames[]];
  return others.reduce((best, names) => (count(names) > count(best) ? names : best), first);
}
