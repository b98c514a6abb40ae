import * as v from "valibot";
import { common, Vocabulary } from "./tokenizer-json.ts";

const Normalizer = v.object({
  type: v.literal("BertNormalizer"),
  clean_text: v.boolean(),
  handle_chinese_chars: v.boolean(),
  /** Not said: as `lowercase`. */
  strip_accents: v.nullish(v.boolean()),
  lowercase: v.boolean(),
});

/** A tokenizer.json as BERT, DistilBERT, ELECTRA, MPNet and most sentence encoders have it. */
export const BertTokenizer = v.object({
  ...common,
  normalizer: Normalizer,
  pre_tokenizer: v.object({ type: v.literal("BertPreTokenizer") }),
  model: v.object({
    type: v.literal("WordPiece"),
    vocab: Vocabulary,
    unk_token: v.string(),
    continuing_subword_prefix: v.string(),
    max_input_chars_per_word: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
});

export type Normalizer = v.InferOutput<typeof Normalizer>;
