import * as v from "valibot";
import { bertConfig, type EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames } from "../encoder-names.ts";
import { fixedHead, robertaClassifier, robertaLanguageModel, tokenHeads } from "../head-formula.ts";
import { bertKeys } from "./bert.ts";
import { bertNames } from "./bert-names.ts";
import type { Family } from "./family.ts";

// RoBERTa and its variants for other languages: BERT whose positions start after the id of the padding token
//                                                                                  https://arxiv.org/abs/1907.11692

const config = v.pipe(
  v.object({
    ...bertKeys,
    model_type: v.picklist(["roberta", "xlm-roberta", "camembert"]),
    pad_token_id: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
  }),
  v.transform((config): EncoderConfig => ({ ...bertConfig(config), positionPaddingId: config.pad_token_id })),
);

const names: EncoderNames = { ...bertNames, prefix: "roberta." };

export const roberta: Family = {
  config,
  names: [names],
  heads: { ...tokenHeads, "sequence-classification": robertaClassifier, "masked-lm": fixedHead(robertaLanguageModel) },
};
