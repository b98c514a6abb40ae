import type { ActivationName, BertSizes } from "./config-keys.ts";

/** An encoder's architecture, the same for all families. Each family translates the keys of its config.json. */
export interface EncoderConfig {
  /** transformers' name of the family. */
  readonly modelType: string;
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  /** Width of the embedding tables. */
  readonly embeddingSize: number;
  /** Whether a linear layer maps the embeddings to `hiddenSize`. */
  readonly hasEmbeddingProjection: boolean;
  readonly layers: number;
  /** Number of different sets of layer weights; consecutive layers share one. Equals `layers` where none is shared. */
  readonly layerGroups: number;
  readonly heads: number;
  readonly intermediateSize: number;
  /** Rows of the position table; for rotary positions, tokens of the longest text. */
  readonly maxPositions: number;
  /** Rows of the token type table; 0 for encoders without token types. */
  readonly tokenTypes: number;
  readonly layerNormEpsilon: number;
  readonly activation: ActivationName;
  /**
   * Token id of padding for families that count positions from `positionPaddingId + 1`, padding left out; undefined for
   * families that count all tokens from 0.
   */
  readonly positionPaddingId: number | undefined;
  /** Buckets of relative position biases; undefined for encoders without. */
  readonly relativePositionBuckets: number | undefined;
  /** Base of each layer's rotary embedding; undefined for encoders with a position table. */
  readonly rotaryTheta: readonly number[] | undefined;
  /** Tokens on either side that each layer attends to, undefined for all; undefined for encoders without windows. */
  readonly windowRadius: readonly (number | undefined)[] | undefined;
  /** Whether layers normalize their input, and the encoder its output; otherwise layers normalize their output. */
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

/** Minimum of the longest text that a model must take: one token between two special tokens. */
export const MIN_TOKENS = 3;

/** Returns the configuration of a BERT of these sizes, with which other families begin. */
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

/** Returns the number of tokens of the longest text: all positions but those before the first token's. */
export const maxTokensOf = ({ maxPositions, positionPaddingId }: EncoderConfig): number =>
  maxPositions - (positionPaddingId === undefined ? 0 : positionPaddingId + 1);
