import * as v from "valibot";
import type { Activation } from "./config-keys.ts";
import type { Family } from "./families/family.ts";
import { families } from "./families/index.ts";

/** What decides an encoder's computation, under transformers' keys, whatever its family calls them. */
export interface EncoderConfig {
  readonly model_type: string;
  readonly vocab_size: number;
  readonly hidden_size: number;
  /** Width of the embedding tables. */
  readonly embedding_size: number;
  /** Whether a linear map leads from the embeddings to `hidden_size`. */
  readonly embedding_projection: boolean;
  readonly num_hidden_layers: number;
  /** Sets of weights that the layers share between them, in order; as many as layers where none is shared. */
  readonly num_hidden_groups: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  /** Rows of the position table; tokens of the longest text where positions are rotary. */
  readonly max_position_embeddings: number;
  /** 0 for encoders without token types. */
  readonly type_vocab_size: number;
  readonly layer_norm_eps: number;
  readonly hidden_act: Activation;
  /** Where positions count from the row after it, over tokens that are not it; undefined where they count from 0. */
  readonly position_padding_id: number | undefined;
  /** Buckets of the relative positions that bias scores; undefined without. */
  readonly relative_attention_num_buckets: number | undefined;
  /** Base of each layer's rotary positions, which take the position table's place; undefined without. */
  readonly rope_theta: readonly number[] | undefined;
  /** How many tokens on either side each layer's attention sees, undefined for all; undefined where all see all. */
  readonly attention_reach: readonly (number | undefined)[] | undefined;
  /** Whether layers normalize what they read, and the encoder its result; otherwise layers normalize what they return. */
  readonly norm_first: boolean;
  /** Whether a second linear map multiplies the activation. */
  readonly gated: boolean;
  /** Whether layer normalizations, the attention's linear maps and the feed-forward ones have a bias. */
  readonly norm_bias: boolean;
  readonly attention_bias: boolean;
  readonly mlp_bias: boolean;
}

/** Of the longest text that a model must take: a word between two special tokens. */
export const LEAST_TOKENS = 3;

const modelTypes = Object.keys(families);
const Keys = v.looseObject({
  model_type: v.picklist(modelTypes, `only these families are supported so far: ${modelTypes.join(", ")}`),
});

/** config.json of every family that can be imported. */
export const EncoderConfig = v.pipe(
  Keys,
  v.transform((keys): unknown => keys),
  v.lazy((keys) => (families[(keys as v.InferOutput<typeof Keys>).model_type] as Family).config),
  v.check(
    (config) => config.hidden_size % config.num_attention_heads === 0,
    "hidden_size must be a multiple of num_attention_heads",
  ),
  v.check(
    (config) => config.num_hidden_layers % config.num_hidden_groups === 0,
    "num_hidden_layers must be a multiple of num_hidden_groups",
  ),
  v.check(
    (config) => config.rope_theta === undefined || config.hidden_size % (2 * config.num_attention_heads) === 0,
    "rotary positions need heads of an even size",
  ),
  v.check(
    (config) => maxTokensOf(config) >= LEAST_TOKENS,
    "max_position_embeddings must leave room for three tokens after pad_token_id",
  ),
);

/** The longest text: as many tokens as positions, less those before the first. */
export const maxTokensOf = ({ max_position_embeddings, position_padding_id }: EncoderConfig): number =>
  max_position_embeddings - (position_padding_id === undefined ? 0 : position_padding_id + 1);
