import * as v from "valibot";
import { ActivationName, Count, Epsilon, encoderKeys, sizeKeys } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import { bertClassifier, bertLanguageModel, fixedHead, tokenHeads } from "../head-formula.ts";
import { bertNames } from "./bert-names.ts";
import type { Family } from "./family.ts";
import { jinaBertConfig, jinaBertNames } from "./jina-bert.ts";

// BERT                                                                             https://arxiv.org/abs/1810.04805

export const bertKeys = {
  ...encoderKeys,
  ...sizeKeys,
  type_vocab_size: v.optional(Count, 2),
  layer_norm_eps: v.optional(Epsilon, 1e-12),
  hidden_act: v.optional(ActivationName, "gelu"),
  position_embedding_type: v.optional(
    v.literal(
      "absolute",
      "only absolute position embeddings are supported so far (and alibi, for the model_type bert)",
    ),
    "absolute",
  ),
};

const absolute = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("bert") }),
  v.transform((config) => bertConfig(config)),
);

/** JinaBERT's config.json has BERT's model_type. */
const config = v.lazy(
  (keys): v.GenericSchema<unknown, EncoderConfig> =>
    Object(keys).position_embedding_type === "alibi" ? jinaBertConfig : absolute,
);

export const bert: Family = {
  config,
  names: [bertNames, ...jinaBertNames],
  heads: { ...tokenHeads, "sequence-classification": bertClassifier, "masked-lm": fixedHead(bertLanguageModel) },
};
