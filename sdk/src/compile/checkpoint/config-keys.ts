import * as v from "valibot";
import type { EncoderConfig } from "./encoder-config.ts";

/** Bounded by what ONNX shapes and JavaScript arrays can hold. */
export const Count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31 - 1));
/** Bounded, because what each layer is becomes a list before the tensors show that there is such a layer. */
export const ListedLayers = v.pipe(Count, v.maxValue(10_000));
export const Positive = v.pipe(v.number(), v.gtValue(0));
export const Positions = v.pipe(Count, v.minValue(3, "there must be room for [CLS], one token and [SEP]"));

/** Activations by transformers' names; activation.ts has their formulas. */
const activations = [
  "gelu",
  "gelu_new",
  "gelu_pytorch_tanh",
  "gelu_fast",
  "quick_gelu",
  "relu",
  "silu",
  "swish",
] as const;
export type Activation = (typeof activations)[number];
export const Activation = v.picklist(activations, `the activation must be one of ${activations.join(", ")}`);

/** Keys that every family has. */
export const encoderKeys = {
  vocab_size: Count,
  is_decoder: v.optional(v.literal(false, "decoders (causal attention) are not encoders"), false),
};

/** Keys of an encoder's sizes, by the names that most families have for them. */
export const sizeKeys = {
  hidden_size: Count,
  num_hidden_layers: Count,
  num_attention_heads: Count,
  intermediate_size: Count,
  max_position_embeddings: Positions,
};

/** Rotary positions as transformers 5 describes them; scaled ones reach further than they were trained for. */
export const RopeParameters = v.object({
  rope_type: v.optional(v.literal("default", "scaled rotary positions are not supported so far"), "default"),
  rope_theta: v.nullish(Positive),
  partial_rotary_factor: v.optional(v.literal(1, "only rotary positions of whole heads are supported so far"), 1),
});

type Sizes = Pick<
  EncoderConfig,
  | "model_type"
  | "vocab_size"
  | "hidden_size"
  | "num_hidden_layers"
  | "num_attention_heads"
  | "intermediate_size"
  | "max_position_embeddings"
  | "type_vocab_size"
  | "layer_norm_eps"
  | "hidden_act"
>;

/** An encoder of these sizes that is BERT in all that other families change. */
export const likeBert = (sizes: Sizes): EncoderConfig => ({
  model_type: sizes.model_type,
  vocab_size: sizes.vocab_size,
  hidden_size: sizes.hidden_size,
  embedding_size: sizes.hidden_size,
  embedding_projection: false,
  num_hidden_layers: sizes.num_hidden_layers,
  num_hidden_groups: sizes.num_hidden_layers,
  num_attention_heads: sizes.num_attention_heads,
  intermediate_size: sizes.intermediate_size,
  max_position_embeddings: sizes.max_position_embeddings,
  type_vocab_size: sizes.type_vocab_size,
  layer_norm_eps: sizes.layer_norm_eps,
  hidden_act: sizes.hidden_act,
  position_padding_id: undefined,
  relative_attention_num_buckets: undefined,
  rope_theta: undefined,
  attention_reach: undefined,
  norm_first: false,
  gated: false,
  norm_bias: true,
  attention_bias: true,
  mlp_bias: true,
});
