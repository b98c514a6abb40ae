import type { ActivationName, BertSizes } from "./config-keys.ts";

/**
 * NTK scaling of a rotary embedding for texts that are longer than those in training. It divides the angles, and depends on
 * config.json alone, not on the length of the text: https://kexue.fm/archives/9706
 */
export interface NtkScaling {
  readonly factor: number;
  /**
   * Exponent of the mixed scaling, which divides each angle by a number of its own. undefined: the scaling multiplies the
   * base by `factor`, and divides all angles by the same number.
   */
  readonly mixedExponent: number | undefined;
}

/** Settings of DeBERTa's disentangled attention, whose scores depend on relative positions: https://arxiv.org/abs/2006.03654 */
export interface DisentangledAttention {
  /** From this distance on, all tokens on the same side share one bucket. */
  readonly maxDistance: number;
  /** Number of buckets on either side. Far distances share buckets. undefined: each distance has its own bucket. */
  readonly buckets: number | undefined;
  /** Half of the number of buckets on both sides together. Bucket `span` is the bucket of the distance 0. */
  readonly span: number;
  readonly hasContentToPosition: boolean;
  readonly hasPositionToContent: boolean;
  /** Whether position embeddings are projected by the linear layers of queries and keys, not by layers of their own. */
  readonly sharesProjections: boolean;
  /** Whether the position embeddings are normalized. */
  readonly normalizes: boolean;
}

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
  /** Number of heads of keys and values. Each of them serves `heads / keyValueHeads` heads of queries. */
  readonly keyValueHeads: number;
  readonly intermediateSize: number;
  /** Whether each token gets the embedding of its position. */
  readonly hasPositionTable: boolean;
  /** Number of rows of the position table. For encoders without such a table: the maximum text length in tokens. */
  readonly maxPositions: number;
  /** Number of rows of the token type table; 0 for encoders without token types. */
  readonly tokenTypes: number;
  readonly normalization: "LayerNorm" | "RMSNorm";
  readonly layerNormEpsilon: number;
  readonly activation: ActivationName;
  /**
   * Id of the padding token, for families that skip padding when they count positions. The first token that is not
   * padding has the position `positionPaddingId + 1`. undefined for families that count all tokens, starting at 0.
   */
  readonly positionPaddingId: number | undefined;
  /** Number of buckets of the relative position biases; undefined for encoders without such biases. */
  readonly relativePositionBuckets: number | undefined;
  /** Whether the attention scores get ALiBi's biases: https://arxiv.org/abs/2108.12409 */
  readonly hasLinearBiases: boolean;
  /** Terms of the attention scores that depend on relative positions; undefined for encoders without such terms. */
  readonly disentangledAttention: DisentangledAttention | undefined;
  /** Number of terms of the attention scores. The scores are divided by √(head size · scoreTerms). */
  readonly scoreTerms: number;
  /** For each layer, the base of its rotary embedding. The list is undefined for encoders without a rotary embedding. */
  readonly rotaryTheta: readonly number[] | undefined;
  /** Scaling of the rotary embeddings of all layers; undefined for none. */
  readonly rotaryScaling: NtkScaling | undefined;
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
  /** Whether the linear layers before the activation have a bias: the intermediate layer and the up projection. */
  readonly hasIntermediateBias: boolean;
  /** Whether the last linear layer of the feed-forward part has a bias. */
  readonly hasOutputBias: boolean;
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
  keyValueHeads: keys.num_attention_heads,
  intermediateSize: keys.intermediate_size,
  hasPositionTable: true,
  maxPositions: keys.max_position_embeddings,
  tokenTypes: keys.type_vocab_size,
  normalization: "LayerNorm",
  layerNormEpsilon: keys.layer_norm_eps,
  activation: keys.hidden_act,
  positionPaddingId: undefined,
  relativePositionBuckets: undefined,
  hasLinearBiases: false,
  disentangledAttention: undefined,
  scoreTerms: 1,
  rotaryTheta: undefined,
  rotaryScaling: undefined,
  windowRadius: undefined,
  normalizesFirst: false,
  isGated: false,
  hasNormBias: true,
  hasAttentionBias: true,
  hasIntermediateBias: true,
  hasOutputBias: true,
});

/** Returns the maximum text length in tokens. With a `positionPaddingId`, only the positions after this id count. */
export const maxTokensOf = ({ maxPositions, positionPaddingId }: EncoderConfig): number =>
  maxPositions - (positionPaddingId === undefined ? 0 : positionPaddingId + 1);
