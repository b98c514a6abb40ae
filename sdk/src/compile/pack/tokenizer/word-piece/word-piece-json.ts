import * as v from "valibot";
import { common, Vocabulary } from "../tokenizer-json.ts";

const BertNormalizer = v.object({
  type: v.literal("BertNormalizer"),
  clean_text: v.boolean(),
  handle_chinese_chars: v.boolean(),
  /** Default: the value of `lowercase`. */
  strip_accents: v.nullish(v.boolean()),
  lowercase: v.boolean(),
});

/** Schema of the tokenizer.json of BERT, DistilBERT, ELECTRA, MPNet and most sentence encoders. */
export const WordPieceJson = v.object({
  ...common,
  normalizer: BertNormalizer,
  pre_tokenizer: v.object({ type: v.literal("BertPreTokenizer") }),
  /** How tokens become a text again. */
  decoder: v.nullish(v.object({ type: v.literal("WordPiece"), cleanup: v.boolean() })),
  model: v.object({
    type: v.literal("WordPiece"),
    vocab: Vocabulary,
    unk_token: v.string(),
    continuing_subword_prefix: v.string(),
    max_input_chars_per_word: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
});

export type BertNormalizer = v.InferOutput<typeof BertNormalizer>;
