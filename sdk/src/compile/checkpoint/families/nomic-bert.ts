import * as v from "valibot";
import {
  ActivationName,
  Count,
  Epsilon,
  encoderKeys,
  ListedLayers,
  MaxPositions,
  Positive,
  RopeParameters,
  sizeKeys,
  TypeCount,
} from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { bertClassifier, bertLanguageModel, type FamilyHeads, fixedHead, tokenHeads } from "../head-formula.ts";
import { bertNames, currentLayer, type Family, type LayerNames } from "./family.ts";

// NomicBERT: BERT with a rotary embedding and gated activations                    https://arxiv.org/abs/2402.01613
//
// A config.json has either the keys of nomic-ai's own code (https://github.com/nomic-ai/contrastors) or the keys of
// transformers 5. nomic-ai's keys are similar to GPT-2's. Tensor names also come in two kinds.

const THETA = 1000;
const WHOLE_HEADS = "only rotary embeddings of whole heads are supported so far";
/** Activation inside each kind of gated layer. The keys are nomic-ai's names for the kinds. */
const gatedActivations = { swiglu: "silu", geglu: "gelu" } as const;
/** nomic-ai's code rounds the intermediate size up to a multiple of this number. */
const INTERMEDIATE_MULTIPLE = 256;

const common = { ...encoderKeys, model_type: v.literal("nomic_bert"), type_vocab_size: v.optional(TypeCount, 2) };

const roundedUp = (value: number, multiple: number) => Math.ceil(value / multiple) * multiple;

const original = v.pipe(
  v.object({
    ...common,
    n_embd: Count,
    n_layer: ListedLayers,
    n_head: Count,
    n_inner: v.nullish(Count),
    n_positions: MaxPositions,
    layer_norm_epsilon: v.optional(Epsilon, 1e-5),
    pad_vocab_size_multiple: v.optional(Count, 1),
    activation_function: v.picklist(
      ["swiglu", "geglu"],
      "only the gated activations swiglu and geglu are supported so far",
    ),
    rotary_emb_base: v.optional(Positive, THETA),
    rotary_emb_fraction: v.literal(1, WHOLE_HEADS),
    rotary_emb_interleaved: v.optional(
      v.literal(false, "interleaved rotary embeddings are not supported so far"),
      false,
    ),
    rotary_emb_scale_base: v.nullish(v.never("rotary embeddings with a decay are not supported so far")),
    rotary_scaling_factor: v.nullish(v.number()),
    max_trained_positions: v.optional(MaxPositions, 2048),
    qkv_proj_bias: v.optional(v.boolean(), true),
    mlp_fc1_bias: v.optional(v.boolean(), true),
    mlp_fc2_bias: v.optional(v.boolean(), true),
    prenorm: v.optional(v.literal(false, "pre-norm layers are not supported so far"), false),
    causal: v.optional(v.literal(false, "decoders (causal attention) are not encoders"), false),
    num_experts: v.nullish(v.literal(0, "mixtures of experts are not supported so far")),
  }),
  v.check((config) => config.mlp_fc1_bias === config.mlp_fc2_bias, "mlp_fc1_bias and mlp_fc2_bias must be the same"),
  v.transform((config) => ({
    model_type: config.model_type,
    vocab_size: roundedUp(config.vocab_size, config.pad_vocab_size_multiple),
    hidden_size: config.n_embd,
    num_hidden_layers: config.n_layer,
    num_attention_heads: config.n_head,
    intermediate_size: roundedUp(config.n_inner ?? Math.floor((8 * config.n_embd) / 3), INTERMEDIATE_MULTIPLE),
    // Scaling changes no positions in texts up to the training length. In longer texts, scaled positions depend on the
    // length of the text. This is not supported, so the training length is the maximum.
    max_position_embeddings: config.rotary_scaling_factor
      ? Math.min(config.n_positions, config.max_trained_positions)
      : config.n_positions,
    type_vocab_size: config.type_vocab_size,
    layer_norm_eps: config.layer_norm_epsilon,
    hidden_act: gatedActivations[config.activation_function],
    theta: config.rotary_emb_base,
    attention_bias: config.qkv_proj_bias,
    mlp_bias: config.mlp_fc1_bias,
  })),
);

const current = v.pipe(
  v.object({
    ...common,
    ...sizeKeys,
    num_hidden_layers: ListedLayers,
    layer_norm_eps: v.optional(Epsilon, 1e-12),
    hidden_act: v.optional(ActivationName, "silu"),
    head_dim: v.nullish(Count),
    rope_parameters: v.nullish(RopeParameters),
  }),
  v.check(
    ({ head_dim, hidden_size, num_attention_heads }) => !head_dim || head_dim * num_attention_heads === hidden_size,
    "head_dim must be hidden_size / num_attention_heads",
  ),
  v.transform(({ rope_parameters, ...config }) => ({
    ...config,
    theta: rope_parameters?.rope_theta ?? THETA,
    attention_bias: false,
    mlp_bias: false,
  })),
);

type Sizes = v.InferOutput<typeof original> | v.InferOutput<typeof current>;

const config = v.pipe(
  v.lazy((keys): v.GenericSchema<unknown, Sizes> => (Object(keys).n_embd === undefined ? current : original)),
  v.transform(
    ({ theta, attention_bias, mlp_bias, ...sizes }): EncoderConfig => ({
      ...bertConfig(sizes),
      hasPositionTable: false,
      rotaryTheta: Array<number>(sizes.num_hidden_layers).fill(theta),
      isGated: true,
      hasAttentionBias: attention_bias,
      hasIntermediateBias: mlp_bias,
      hasOutputBias: mlp_bias,
    }),
  ),
);

const originalLayer = (index: number): LayerNames => {
  const name = `encoder.layers.${index}`;
  const qkv = `${name}.attn.Wqkv`;
  return {
    query: { name: qkv, part: 0, parts: 3 },
    key: { name: qkv, part: 1, parts: 3 },
    value: { name: qkv, part: 2, parts: 3 },
    attentionOutput: `${name}.attn.out_proj`,
    attentionNorm: `${name}.norm1`,
    // In nomic-ai's code, the activation is applied to the result of fc12, and fc11 is the up projection.
    intermediate: `${name}.mlp.fc12`,
    upProjection: `${name}.mlp.fc11`,
    output: `${name}.mlp.fc2`,
    feedForwardNorm: `${name}.norm2`,
  };
};

/** Tensor names of nomic-ai's code and of transformers 5. Both kinds of names occur with both kinds of config.json. */
const names: Family["names"] = [
  { ...bertNames, norm: "emb_ln", layer: originalLayer },
  { ...bertNames, prefix: "nomic_bert.", layer: currentLayer("post_attention_layernorm", "post_mlp_layernorm") },
];

const heads: FamilyHeads = {
  "token-classification": tokenHeads["token-classification"],
  "sequence-classification": bertClassifier,
  "masked-lm": fixedHead({
    ...bertLanguageModel,
    transform: bertLanguageModel.transform && {
      ...bertLanguageModel.transform,
      norm: "cls.predictions.transform.layer_norm",
    },
  }),
};

export const nomicBert: Family = { config, names, heads };
