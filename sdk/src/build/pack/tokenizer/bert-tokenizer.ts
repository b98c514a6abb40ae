import * as v from "valibot";

const Id = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Tokens may have any name, "constructor" too. */
const Vocabulary = v.custom<Record<string, number>>(
  (value) => typeof value === "object" && value !== null && Object.values(value).every((id) => v.is(Id, id)),
);

const AddedToken = v.object({
  content: v.string(),
  single_word: v.boolean(),
  lstrip: v.boolean(),
  rstrip: v.boolean(),
  normalized: v.boolean(),
});

const TokenAndId = v.tuple([v.string(), Id]);

const PostProcessor = v.nullish(
  v.variant("type", [
    v.object({ type: v.picklist(["BertProcessing", "RobertaProcessing"]), cls: TokenAndId, sep: TokenAndId }),
    v.object({
      type: v.literal("TemplateProcessing"),
      single: v.array(
        v.union([
          v.object({ SpecialToken: v.object({ id: v.string() }) }),
          v.object({ Sequence: v.object({ id: v.literal("A") }) }),
        ]),
      ),
      special_tokens: v.record(v.string(), v.object({ ids: v.array(Id) })),
    }),
  ]),
);

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
  added_tokens: v.optional(v.array(AddedToken), []),
  normalizer: Normalizer,
  pre_tokenizer: v.object({ type: v.literal("BertPreTokenizer") }),
  post_processor: PostProcessor,
  model: v.object({
    type: v.literal("WordPiece"),
    vocab: Vocabulary,
    unk_token: v.string(),
    continuing_subword_prefix: v.string(),
    max_input_chars_per_word: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
});

export type BertTokenizer = v.InferOutput<typeof BertTokenizer>;
export type Normalizer = v.InferOutput<typeof Normalizer>;
