import * as v from "valibot";
import { ActivationName, Count, encoderKeys, Positive, sizeKeys } from "../config-keys.ts";
import { bertConfig } from "../encoder-config.ts";
import type { EncoderNames, LayerNames } from "../encoder-names.ts";
import { bertHead } from "../head-formula.ts";
import type { Family } from "./family.ts";

// BERT                                                                             https://arxiv.org/abs/1810.04805

export const bertKeys = {
  ...encoderKeys,
  ...sizeKeys,
  type_vocab_size: v.optional(Count, 2),
  layer_norm_eps: v.optional(Positive, 1e-12),
  hidden_act: v.optional(ActivationName, "gelu"),
  position_embedding_type: v.optional(
    v.literal("absolute", "only absolute position embeddings are supported so far"),
    "absolute",
  ),
};

const config = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("bert") }),
  v.transform((config) => bertConfig(config)),
);

export const bertLayer = (index: number): LayerNames => {
  const layer = `encoder.layer.${index}`;
  return {
    query: `${layer}.attention.self.query`,
    key: `${layer}.attention.self.key`,
    value: `${layer}.attention.self.value`,
    attentionOutput: `${layer}.attention.output.dense`,
    attentionNorm: `${layer}.attention.output.LayerNorm`,
    intermediate: `${layer}.intermediate.dense`,
    output: `${layer}.output.dense`,
    feedForwardNorm: `${layer}.output.LayerNorm`,
  };
};

export const bertNames: EncoderNames = {
  prefix: "bert.",
  tokens: "embeddings.word_embeddings",
  norm: "embeddings.LayerNorm",
  layer: bertLayer,
};

export const bert: Family = { config, names: [bertNames], head: bertHead };
