import * as v from "valibot";
import {
  ActivationName,
  Epsilon,
  encoderKeys,
  ListedLayers,
  Positive,
  RopeParameters,
  sizeKeys,
  TypeCount,
} from "../config-keys.ts";
import { bertConfig, type EncoderConfig, type NtkScaling } from "../encoder-config.ts";
import { bertClassifier, type FamilyHeads, fixedHead, robertaLanguageModel, tokenHeads } from "../head-formula.ts";
import { bertNames, currentLayer, type Family, type LayerNames } from "./family.ts";

// GTE: BERT with a rotary embedding and gated activations                          https://arxiv.org/abs/2407.19669
//
// Checkpoints have the model_type `new` of Alibaba's own code (https://huggingface.co/Alibaba-NLP/new-impl), or the model_type
// `gte` of transformers 5. Either model_type occurs with either set of tensor names.

/** Default rotary base of transformers' GteConfig. */
const THETA = 160_000;
/** Default rotary base of Alibaba's NewConfig. */
const ORIGINAL_THETA = 10_000;

const common = {
  ...encoderKeys,
  ...sizeKeys,
  num_hidden_layers: ListedLayers,
  type_vocab_size: v.optional(TypeCount, 1),
  layer_norm_eps: v.optional(Epsilon, 1e-12),
  hidden_act: v.optional(ActivationName, "gelu"),
};

const NtkKeys = v.pipe(
  v.object({
    type: v.literal("ntk", "only the rotary scaling ntk is supported so far"),
    factor: v.pipe(v.number(), v.minValue(1)),
    mixed_b: v.nullish(Positive),
  }),
  v.transform(({ factor, mixed_b }): NtkScaling => ({ factor, mixedExponent: mixed_b ?? undefined })),
);

const original = v.pipe(
  v.object({
    ...common,
    model_type: v.literal("new"),
    position_embedding_type: v.optional(v.literal("rope", "only rotary embeddings are supported so far"), "rope"),
    rope_theta: v.optional(Positive, ORIGINAL_THETA),
    rope_scaling: v.nullish(NtkKeys),
    layer_norm_type: v.optional(v.literal("layer_norm", "only layer_norm is supported so far"), "layer_norm"),
    logn_attention_scale: v.optional(
      v.literal(false, "scores that depend on the length of the text are not supported so far"),
      false,
    ),
  }),
  v.transform(({ rope_theta, rope_scaling, ...config }) => ({ ...config, theta: rope_theta, scaling: rope_scaling })),
);

const current = v.pipe(
  v.object({ ...common, model_type: v.literal("gte"), rope_parameters: v.nullish(RopeParameters) }),
  v.transform(({ rope_parameters, ...config }) => ({
    ...config,
    theta: rope_parameters?.rope_theta ?? THETA,
    scaling: undefined,
  })),
);

type Sizes = v.InferOutput<typeof original> | v.InferOutput<typeof current>;

const config = v.pipe(
  v.lazy((keys): v.GenericSchema<unknown, Sizes> => (Object(keys).model_type === "new" ? original : current)),
  v.transform(
    ({ theta, scaling, ...sizes }): EncoderConfig => ({
      ...bertConfig(sizes),
      hasPositionTable: false,
      rotaryTheta: Array<number>(sizes.num_hidden_layers).fill(theta),
      rotaryScaling: scaling ?? undefined,
      isGated: true,
      hasIntermediateBias: false,
    }),
  ),
);

const originalLayer = (index: number): LayerNames => {
  const name = `encoder.layer.${index}`;
  const [qkv, upGate] = [`${name}.attention.qkv_proj`, `${name}.mlp.up_gate_proj`];
  return {
    query: { name: qkv, part: 0, parts: 3 },
    key: { name: qkv, part: 1, parts: 3 },
    value: { name: qkv, part: 2, parts: 3 },
    attentionOutput: `${name}.attention.o_proj`,
    attentionNorm: `${name}.attn_ln`,
    intermediate: { name: upGate, part: 1, parts: 2 },
    upProjection: { name: upGate, part: 0, parts: 2 },
    output: `${name}.mlp.down_proj`,
    feedForwardNorm: `${name}.mlp_ln`,
  };
};

/** Names of a checkpoint whose config.json has `pack_qkv: false`. */
const unpackedLayer = (index: number): LayerNames => {
  const attention = `encoder.layer.${index}.attention`;
  return {
    ...originalLayer(index),
    query: `${attention}.q_proj`,
    key: `${attention}.k_proj`,
    value: `${attention}.v_proj`,
  };
};

const names: Family["names"] = [
  { ...bertNames, prefix: "new.", layer: originalLayer },
  { ...bertNames, prefix: "new.", layer: unpackedLayer },
  { ...bertNames, prefix: "gte.", layer: currentLayer("post_attention_layernorm", "post_mlp_layernorm") },
];

const heads: FamilyHeads = {
  "token-classification": tokenHeads["token-classification"],
  "sequence-classification": bertClassifier,
  "masked-lm": fixedHead({
    ...robertaLanguageModel,
    output: { name: "lm_head.decoder", bias: "lm_head.decoder.bias", isTied: true },
  }),
};

export const gte: Family = { config, names, heads };
