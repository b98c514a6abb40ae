import * as v from "valibot";
import { ActivationName, Count } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { clsHead, type FamilyHeads, fixedHead, languageModel, tokenHeads } from "../head-formula.ts";
import { bertKeys } from "./bert-like.ts";
import { bertNames, type EncoderNames, type Family, type LayerNames } from "./family.ts";

// ALBERT: BERT with narrower embeddings and layers that share weights              https://arxiv.org/abs/1909.11942

const config = v.pipe(
  v.object({
    ...bertKeys,
    model_type: v.literal("albert"),
    embedding_size: v.optional(Count, 128),
    hidden_act: v.optional(ActivationName, "gelu_new"),
    num_hidden_groups: v.optional(Count, 1),
    inner_group_num: v.optional(v.literal(1, "only one layer per group is supported so far"), 1),
  }),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig(config),
      embeddingSize: config.embedding_size,
      // ALBERT has a projection even if the embedding size equals the hidden size.
      hasEmbeddingProjection: true,
      layerGroups: config.num_hidden_groups,
    }),
  ),
);

const layer = (group: number): LayerNames => {
  const name = `encoder.albert_layer_groups.${group}.albert_layers.0`;
  return {
    query: `${name}.attention.query`,
    key: `${name}.attention.key`,
    value: `${name}.attention.value`,
    attentionOutput: `${name}.attention.dense`,
    attentionNorm: `${name}.attention.LayerNorm`,
    intermediate: `${name}.ffn`,
    output: `${name}.ffn_output`,
    feedForwardNorm: `${name}.full_layer_layer_norm`,
  };
};

const names: EncoderNames = {
  ...bertNames,
  prefix: "albert.",
  projection: "encoder.embedding_hidden_mapping_in",
  layer,
};

const heads: FamilyHeads = {
  ...tokenHeads,
  "sequence-classification": fixedHead(
    clsHead({ dense: (prefix) => `${prefix}pooler`, activation: "tanh" }, "classifier"),
  ),
  "masked-lm": fixedHead(
    languageModel(
      {
        dense: "predictions.dense",
        norm: "predictions.LayerNorm",
        output: "predictions.decoder",
        bias: "predictions.bias",
      },
      { width: "embedding" },
    ),
  ),
};

export const albert: Family = { config, names: [names], heads };
