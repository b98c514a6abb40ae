import * as v from "valibot";
import { Count, likeBert } from "../config-keys.ts";
import type { EncoderNames } from "../encoder-names.ts";
import { clsHead } from "../head-formula.ts";
import { bertKeys, bertNames } from "./bert.ts";
import type { Family } from "./family.ts";

// ELECTRA: BERT with embeddings of a width of their own                            https://arxiv.org/abs/2003.10555

const config = v.pipe(
  v.object({ ...bertKeys, model_type: v.literal("electra"), embedding_size: v.optional(Count, 128) }),
  v.transform((config) => ({
    ...likeBert(config),
    embedding_size: config.embedding_size,
    embedding_projection: config.embedding_size !== config.hidden_size,
  })),
);

const names: EncoderNames = { ...bertNames, prefix: "electra.", projection: "embeddings_project" };

/** RoBERTa's with another activation. */
const head = clsHead({ dense: () => "classifier.dense", activation: "gelu", output: "classifier.out_proj" });

export const electra: Family = { config, names: [names], head };
