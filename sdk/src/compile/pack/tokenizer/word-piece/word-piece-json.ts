import * as v from "valibot";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { WordBreaks } from "../word-breaks.ts";

const Step = v.variant("type", [
  v.object({
    type: v.literal("BertNormalizer"),
    clean_text: v.boolean(),
    handle_chinese_chars: v.boolean(),
    /** Default: the value of `lowercase`. */
    strip_accents: v.nullish(v.boolean()),
    lowercase: v.boolean(),
  }),
  v.object({ type: v.picklist(["NFD", "Lowercase", "StripAccents"]) }),
]);

/** One step, or a Sequence of steps; null without any. */
const Normalizer = v.pipe(
  v.nullish(v.union([Step, v.object({ type: v.literal("Sequence"), normalizers: v.array(Step) })])),
  v.transform((given) => (!given ? [] : given.type === "Sequence" ? given.normalizers : [given])),
);

/** Schema of the tokenizer.json of BERT, DistilBERT, ELECTRA, MPNet and most sentence encoders; also of WordLevel. */
export const WordPieceJson = v.object({
  ...common,
  normalizer: v.optional(Normalizer, null),
  pre_tokenizer: WordBreaks,
  /** How tokens become a text again. */
  decoder: v.nullish(v.object({ type: v.literal("WordPiece"), cleanup: v.boolean() })),
  model: v.variant("type", [
    v.object({
      type: v.literal("WordPiece"),
      vocab: Vocabulary,
      unk_token: v.string(),
      continuing_subword_prefix: v.string(),
      max_input_chars_per_word: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
    }),
    v.object({ type: v.literal("WordLevel"), vocab: Vocabulary, unk_token: v.string() }),
  ]),
});

export type NormalizerSteps = v.InferOutput<typeof Normalizer>;
