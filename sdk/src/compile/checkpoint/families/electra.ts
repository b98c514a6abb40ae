import * as v from "valibot";
import { Count } from "../config-keys.ts";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames } from "../encoder-names.ts";
import { clsHead, type FamilyHeads, fixedHead, languageModel, tokenHeads } from "../head-formula.ts";
import { bertKeys } from "./bert.ts";
import { bertNames } from "./bert-names.ts";
import type { Family } from "./family.ts";

// ELECTRA: BERT whose embedding size can differ from its hidden size               https://arxiv.org/abs/2003.10555

const config = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("electra"), embedding_size: v.optional(Count, 128) }),
  v.transform(
    (config): EncoderConfig => ({
      ...bertConfig(config),
      embeddingSize: config.embedding_size,
      hasEmbeddingProjection: config.embedding_size !== config.hidden_size,
    }),
  ),
);

const names: EncoderNames = { ...bertNames, prefix: "electra.", projection: "embeddings_project" };

const heads: FamilyHeads = {
  ...tokenHeads,
  /** RoBERTa's head with GELU instead of tanh. */
  "sequence-classification": fixedHead(
    clsHead({ dense: () => "classifier.dense", activation: "gelu" }, "classifier.out_proj"),
  ),
  "masked-lm": fixedHead(
    languageModel(
      {
        dense: "generator_predictions.dense",
        norm: "generator_predictions.LayerNorm",
        output: "generator_lm_head",
        bias: "generator_lm_head.bias",
      },
      { activation: "gelu", width: "embedding" },
    ),
  ),
};

export const electra: Family = { config, names: [names], heads };
