import * as v from "valibot";
import { ActivationName, Count, encoderKeys, MaxPositions } from "../config-keys.ts";
import { bertConfig } from "../encoder-config.ts";
import { clsHead, type FamilyHeads, fixedHead, languageModel, tokenHeads } from "../head-formula.ts";
import { bertNames, type EncoderNames, type Family, type LayerNames } from "./family.ts";

// DistilBERT: BERT without token types                                             https://arxiv.org/abs/1910.01108

const config = v.pipe(
  v.object({
    ...encoderKeys,
    model_type: v.literal("distilbert"),
    dim: Count,
    n_layers: Count,
    n_heads: Count,
    // Other families' names of the three keys above. If config.json has both names, these count, as in transformers.
    hidden_size: v.optional(Count),
    num_hidden_layers: v.optional(Count),
    num_attention_heads: v.optional(Count),
    hidden_dim: Count,
    max_position_embeddings: MaxPositions,
    activation: v.optional(ActivationName, "gelu"),
  }),
  v.transform((config) =>
    bertConfig({
      ...config,
      hidden_size: config.hidden_size ?? config.dim,
      num_hidden_layers: config.num_hidden_layers ?? config.n_layers,
      num_attention_heads: config.num_attention_heads ?? config.n_heads,
      intermediate_size: config.hidden_dim,
      hidden_act: config.activation,
      type_vocab_size: 0,
      layer_norm_eps: 1e-12,
    }),
  ),
);

const layer = (index: number): LayerNames => {
  const name = `transformer.layer.${index}`;
  return {
    query: `${name}.attention.q_lin`,
    key: `${name}.attention.k_lin`,
    value: `${name}.attention.v_lin`,
    attentionOutput: `${name}.attention.out_lin`,
    attentionNorm: `${name}.sa_layer_norm`,
    intermediate: `${name}.ffn.lin1`,
    output: `${name}.ffn.lin2`,
    feedForwardNorm: `${name}.output_layer_norm`,
  };
};

const names: EncoderNames = { ...bertNames, prefix: "distilbert.", layer };

const heads: FamilyHeads = {
  ...tokenHeads,
  "sequence-classification": fixedHead(clsHead({ dense: () => "pre_classifier", activation: "relu" }, "classifier")),
  "masked-lm": fixedHead(
    languageModel({
      dense: "vocab_transform",
      norm: "vocab_layer_norm",
      output: "vocab_projector",
      bias: "vocab_projector.bias",
    }),
  ),
};

export const distilBert: Family = { config, names: [names], heads };
