import * as v from "valibot";
import {
  ActivationName,
  Count,
  Epsilon,
  encoderKeys,
  ListedLayers,
  Positive,
  RopeParameters,
  sizeKeys,
} from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { type FamilyHeads, type HeadFormula, type HeadSchema, outputLayer } from "../head-formula.ts";
import type { EncoderNames, Family, LayerNames } from "./family.ts";

// ModernBERT: pre-norm layers, a rotary embedding, attention windows in most layers, gated activations, few biases
//                                                                                  https://arxiv.org/abs/2412.13663

/** Default rotary bases in transformers. */
const GLOBAL_THETA = 160_000;
const LOCAL_THETA = 10_000;

const config = v.pipe(
  v.object({
    ...encoderKeys,
    ...sizeKeys,
    model_type: v.literal("modernbert"),
    num_hidden_layers: ListedLayers,
    norm_eps: v.optional(Epsilon, 1e-5),
    hidden_activation: v.optional(ActivationName, "gelu"),
    norm_bias: v.optional(v.boolean(), false),
    attention_bias: v.optional(v.boolean(), false),
    mlp_bias: v.optional(v.boolean(), false),
    /** Size of the attention window. On either side, a token attends to half of this number of tokens, rounded down. */
    local_attention: v.optional(Count, 128),
    // Keys written by transformers before version 5.
    global_attn_every_n_layers: v.optional(Count, 3),
    global_rope_theta: v.optional(Positive, GLOBAL_THETA),
    local_rope_theta: v.nullish(Positive),
    rope_scaling: v.optional(v.null_("scaled rotary embeddings are not supported so far")),
    // Keys written by transformers since version 5.
    layer_types: v.nullish(v.array(v.picklist(["full_attention", "sliding_attention"]))),
    rope_parameters: v.nullish(
      v.object({
        full_attention: v.nullish(RopeParameters),
        sliding_attention: v.nullish(RopeParameters),
      }),
    ),
  }),
  v.check(
    (config) => !config.layer_types || config.layer_types.length === config.num_hidden_layers,
    "layer_types must have num_hidden_layers entries",
  ),
  v.transform((config) => {
    const { rope_parameters: rope, local_rope_theta: local } = config;
    const theta = {
      full_attention: rope?.full_attention?.rope_theta ?? config.global_rope_theta,
      // If local_rope_theta is null, local layers use the base of global layers. If the key is missing, they use
      // LOCAL_THETA.
      sliding_attention:
        rope?.sliding_attention?.rope_theta ?? (local === null ? config.global_rope_theta : (local ?? LOCAL_THETA)),
    };
    const radius = { full_attention: undefined, sliding_attention: Math.floor(config.local_attention / 2) };
    const types =
      config.layer_types ??
      Array.from({ length: config.num_hidden_layers }, (_, i) =>
        i % config.global_attn_every_n_layers === 0 ? "full_attention" : "sliding_attention",
      );
    const encoder: EncoderConfig = {
      ...bertConfig({
        ...config,
        type_vocab_size: 0,
        layer_norm_eps: config.norm_eps,
        hidden_act: config.hidden_activation,
      }),
      hasPositionTable: false,
      rotaryTheta: types.map((type) => theta[type]),
      windowRadius: types.map((type) => radius[type]),
      normalizesFirst: true,
      isGated: true,
      hasNormBias: config.norm_bias,
      hasAttentionBias: config.attention_bias,
      hasIntermediateBias: config.mlp_bias,
      hasOutputBias: config.mlp_bias,
    };
    return encoder;
  }),
);

const layer = (index: number): LayerNames => {
  const name = `layers.${index}`;
  const [qkv, wi] = [`${name}.attn.Wqkv`, `${name}.mlp.Wi`];
  return {
    query: { name: qkv, part: 0, parts: 3 },
    key: { name: qkv, part: 1, parts: 3 },
    value: { name: qkv, part: 2, parts: 3 },
    attentionOutput: `${name}.attn.Wo`,
    // The first layer has no attention normalization, because the embeddings are already normalized.
    attentionNorm: index === 0 ? undefined : `${name}.attn_norm`,
    intermediate: { name: wi, part: 0, parts: 2 },
    upProjection: { name: wi, part: 1, parts: 2 },
    output: `${name}.mlp.Wo`,
    feedForwardNorm: `${name}.mlp_norm`,
  };
};

const names: EncoderNames = {
  prefix: "model.",
  tokens: "embeddings.tok_embeddings",
  norm: "embeddings.norm",
  finalNorm: "final_norm",
  layer,
};

/** Keys that configure the heads. All heads have the same layers before their output layer. */
const HeadKeys = v.object({
  classifier_pooling: v.optional(v.picklist(["cls", "mean"]), "cls"),
  classifier_bias: v.optional(v.boolean(), false),
  classifier_activation: v.optional(ActivationName, "gelu"),
  decoder_bias: v.optional(v.boolean(), true),
});

const headOf = (parts: (keys: v.InferOutput<typeof HeadKeys>) => Pick<HeadFormula, "pooling" | "output">): HeadSchema =>
  v.pipe(
    HeadKeys,
    v.transform((keys) => ({
      ...parts(keys),
      poolsLogits: false,
      transform: {
        dense: () => "head.dense",
        denseBias: keys.classifier_bias,
        width: "hidden" as const,
        activation: keys.classifier_activation,
        norm: "head.norm",
      },
    })),
  );

const ofTokens = headOf(() => ({ pooling: undefined, output: outputLayer("classifier") }));

const heads: FamilyHeads = {
  "sequence-classification": headOf(({ classifier_pooling }) => ({
    pooling: classifier_pooling,
    output: outputLayer("classifier"),
  })),
  "token-classification": ofTokens,
  "question-answering": ofTokens,
  "masked-lm": headOf(({ decoder_bias }) => ({
    pooling: undefined,
    output: { name: "decoder", bias: decoder_bias ? "decoder.bias" : undefined, isTied: true },
  })),
};

export const modernBert: Family = { config, names: [names], heads };
