import type { ActivationName, BertSizes } from "./config-keys.ts";

/** An encoder's architecture, in the same terms for all families. Each family translates its config.json to it. */
export interface EncoderConfig {
  /** Name of the family in transformers (`model_type`). */
  readonly modelType: string;
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  /** Width of the embedding tables. */
  readonly embeddingSize: number;
  /** Whether a linear layer maps the embeddings to `hiddenSize`. */
  readonly hasEmbeddingProjection: boolean;
  readonly layers: number;
  /** Number of distinct sets of layer weights. Consecutive layers may share a set; equals `layers` if none do. */
  readonly layerGroups: number;
  readonly heads: number;
  readonly intermediateSize: number;
  /** Rows of the position table; with rotary positions, the maximum text length in tokens. */
  readonly maxPositions: number;
  /** Rows of the token type table; 0 for encoders without token types. */
  readonly tokenTypes: number;
  readonly layerNormEpsilon: number;
  readonly activation: ActivationName;
  /**
   * Padding id in families that number positions from `positionPaddingId + 1` on and skip padding; undefined in families
   * that number all tokens from 0.
   */
  readonly positionPaddingId: number | undefined;
  /** Buckets of relative position biases; undefined for encoders without these biases. */
  readonly relativePositionBuckets: number | undefined;
  /** Base of each layer's rotary embedding; undefined for encoders with a position table. */
  readonly rotaryTheta: readonly number[] | undefined;
  /**
   * Tokens on either side that each layer attends to; an entry is undefined for a layer that attends to all tokens. The
   * list is undefined for encoders without attention windows.
   */
  readonly windowRadius: readonly (number | undefined)[] | undefined;
  /**
   * Whether layers normalize their inputs, and the encoder its output (pre-norm). Otherwise, layers normalize their outputs
   * (post-norm).
   */
  readonly normalizesFirst: boolean;
  /** Whether the activation is multiplied by an up projection. */
  readonly isGated: boolean;
  /** Whether layer normalizations have a bias. */
  readonly hasNormBias: boolean;
  /** Whether the linear layers of attention have a bias. */
  readonly hasAttentionBias: boolean;
  /** Whether the linear layers of the feed-forward part have a bias. */
  readonly hasFeedForwardBias: boolean;
}

/** Smallest value allowed for a model's maximum text length: one token between two special tokens. */
export const MIN_TOKENS = 3;

/** Returns the configuration of a BERT with these sizes. Other families start from it and change some fields. */
export const bertConfig = (keys: BertSizes): EncoderConfig => ({
  modelType: keys.model_type,
  vocabularySize: keys.vocab_size,
  hiddenSize: keys.hidden_size,
  embeddingSize: keys.hidden_size,
  hasEmbeddingProjection: false,
  layers: keys.num_hidden_layers,
  layerGroups: keys.num_hidden_layers,
  heads: keys.num_attention_heads,
  intermediateSize: keys.intermediate_size,
  maxPositions: keys.max_position_embeddings,
  tokenTypes: keys.type_vocab_size,
  layerNormEpsilon: keys.layer_norm_eps,
  activation: keys.hidden_act,
  positionPaddingId: undefined,
  relativePositionBuckets: undefined,
  rotaryTheta: undefined,
  windowRadius: undefined,
  normalizesFirst: false,
  isGated: false,
  hasNormBias: true,
  hasAttentionBias: true,
  hasFeedForwardBias: true,
});

/** Returns the maximum text length in tokens: the positions after the padding id, or all positions. */
export const maxTokensOf = ({ maxPositions, positionPaddingId }: EncoderConfig): number =>
  maxPositions - (positionPaddingId === undefined ? 0 : positionPaddingId + 1);
