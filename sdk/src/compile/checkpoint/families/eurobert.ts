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
  supports,
} from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { type FamilyHeads, fixedHead, type HeadFormula, linearHead, outputLayer, tokenHeads } from "../head-formula.ts";
import { currentLayer, type EncoderNames, type Family } from "./family.ts";

// EuroBERT: pre-norm layers with RMSNorm, grouped-query attention, a rotary embedding and gated activations
//                                                                                  https://arxiv.org/abs/2503.05500

/** Default rotary base of transformers' EuroBertConfig. */
const THETA = 10_000;

const config = v.pipe(
  v.object({
    ...encoderKeys,
    ...sizeKeys,
    model_type: v.literal("eurobert"),
    num_hidden_layers: ListedLayers,
    num_key_value_heads: v.nullish(Count),
    head_dim: v.nullish(Count),
    rms_norm_eps: v.optional(Epsilon, 1e-5),
    hidden_act: v.optional(ActivationName, "silu"),
    attention_bias: v.optional(v.boolean(), false),
    mlp_bias: v.optional(v.boolean(), false),
    // Keys of EuroBERT's own code, which transformers before version 5 runs.
    rope_theta: v.nullish(Positive),
    rope_scaling: v.optional(v.null_("scaled rotary embeddings are not supported so far")),
    rope_parameters: v.nullish(RopeParameters),
  }),
  supports(
    ({ head_dim, hidden_size, num_attention_heads }) => !head_dim || head_dim * num_attention_heads === hidden_size,
    "head_dim must be hidden_size / num_attention_heads",
  ),
  v.check(
    ({ num_attention_heads: heads, num_key_value_heads }) => heads % (num_key_value_heads ?? heads) === 0,
    "num_attention_heads must be a multiple of num_key_value_heads",
  ),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig({ ...config, type_vocab_size: 0, layer_norm_eps: config.rms_norm_eps }),
      keyValueHeads: config.num_key_value_heads ?? config.num_attention_heads,
      normalization: "RMSNorm",
      hasNormBias: false,
      hasPositionTable: false,
      rotaryTheta: Array<number>(config.num_hidden_layers).fill(
        config.rope_parameters?.rope_theta ?? config.rope_theta ?? THETA,
      ),
      normalizesFirst: true,
      isGated: true,
      hasAttentionBias: config.attention_bias,
      hasIntermediateBias: config.mlp_bias,
      hasOutputBias: config.mlp_bias,
    }),
  ),
);

const names: EncoderNames = {
  prefix: "model.",
  tokens: "embed_tokens",
  norm: undefined,
  finalNorm: "norm",
  layer: currentLayer("input_layernorm", "post_attention_layernorm"),
};

const Pooling = v.nullish(
  v.picklist(["bos", "mean", "late"], "the pooling of the classifier must be bos, mean or late"),
);

const classifier = v.pipe(
  // EuroBERT's own code has the key clf_pooling, transformers 5 has classifier_pooling.
  v.object({ classifier_pooling: Pooling, clf_pooling: Pooling }),
  v.transform(({ classifier_pooling, clf_pooling }): HeadFormula => {
    const pooling = classifier_pooling ?? clf_pooling ?? "late";
    return {
      pooling: pooling === "bos" ? "cls" : "mean",
      poolsLogits: pooling === "late",
      transform: { dense: () => "dense", denseBias: true, width: "hidden", activation: "gelu", norm: undefined },
      output: outputLayer("classifier"),
    };
  }),
);

const heads: FamilyHeads = {
  "token-classification": tokenHeads["token-classification"],
  "sequence-classification": classifier,
  "masked-lm": fixedHead({ ...linearHead("lm_head"), output: { name: "lm_head", bias: undefined, isTied: true } }),
};

export const euroBert: Family = { config, names: [names], heads };
