import type { ActivationName, BertSizes } from "./config-keys.ts";

/**
 * An encoder's architecture, with the same fields for all families. Each family translates its config.json to these
 * fields.
 */
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
  /**
   * Number of different sets of layer weights. Consecutive layers can share a set. If every layer has its own
   * set, this number equals `layers`.
   */
  readonly layerGroups: number;
  readonly heads: number;
  readonly intermediateSize: number;
  /** Number of rows of the position table. For encoders with a rotary embedding: the maximum text length in tokens. */
  readonly maxPositions: number;
  /** Number of rows of the token type table; 0 for encoders without token types. */
  readonly tokenTypes: number;
  readonly layerNormEpsilon: number;
  readonly activation: ActivationName;
  /**
   * Id of the padding token, for families that skip padding when they count positions. The first token that is not
   * padding has the position `positionPaddingId + 1`. undefined for families that count all tokens, starting at 0.
   */
  readonly positionPaddingId: number | undefined;
  /** Number of buckets of the relative position biases; undefined for encoders without such biases. */
  readonly relativePositionBuckets: number | undefined;
  /** For each layer, the base of its rotary embedding. The list is undefined for encoders with a position table. */
  readonly rotaryTheta: readonly number[] | undefined;
  /**
   * For each layer, the maximum distance between a token and the tokens it attends to. An entry is undefined if the
   * layer has no attention window. The list is undefined for encoders without attention windows.
   */
  readonly windowRadius: readonly (number | undefined)[] | undefined;
  /**
   * true for pre-norm encoders: each layer normalizes its inputs, and the encoder normalizes its output. false for
   * post-norm encoders: each layer normalizes its outputs.
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

/**
 * Returns the configuration of a BERT with these sizes. Other families start from this configuration and change some
 * fields.
 */
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

/** Returns the maximum text length in tokens. With a `positionPaddingId`, only the positions after this id count. */
export const maxTokensOf = ({ maxPositions, positionPaddingId }: EncoderConfig): number =>
  maxPositions - (positionPaddingId === undefined ? 0 : positionPaddingId + 1);
