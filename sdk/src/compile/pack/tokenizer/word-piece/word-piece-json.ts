import * as v from "valibot";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { WordBreaks } from "../word-breaks.ts";

/** Changes that a normalizer makes to each character of a text, in the order in which it makes them. */
export interface NormalizerOptions {
  /** Whether control characters are removed, and white space becomes a blank. */
  readonly cleans: boolean;
  /** Whether CJK ideographs are words of their own. */
  readonly isolatesIdeographs: boolean;
  /** Whether characters are decomposed (NFD). */
  readonly decomposes: boolean;
  /** The marks that are removed: nonspacing ones, or all. */
  readonly strips: "nothing" | "nonspacing" | "marks";
  readonly lowercases: boolean;
}

const NOTHING: NormalizerOptions = {
  cleans: false,
  isolatesIdeographs: false,
  decomposes: false,
  strips: "nothing",
  lowercases: false,
};

/**
 * Returns the options that equal a sequence of normalizers. Lower-casing and decomposition give the same result in either
 * order.
 *
 * @returns undefined for a sequence that no options equal
 */
export function normalizerOptions(steps: NormalizerSteps): NormalizerOptions | undefined {
  const [only] = steps;
  if (only?.type === "BertNormalizer") {
    const removesAccents = only.strip_accents ?? only.lowercase;
    const options: NormalizerOptions = {
      cleans: only.clean_text,
      isolatesIdeographs: only.handle_chinese_chars,
      decomposes: removesAccents,
      strips: removesAccents ? "nonspacing" : "nothing",
      lowercases: only.lowercase,
    };
    return steps.length === 1 ? options : undefined;
  }
  const types = steps.map(({ type }) => type);
  const stripping = types.indexOf("StripAccents");
  const decomposing = types.indexOf("NFD");
  // No options equal StripAccents before NFD: it keeps the marks that NFD separates from characters afterwards.
  if (types.includes("BertNormalizer") || (stripping >= 0 && stripping < decomposing)) return undefined;
  return {
    ...NOTHING,
    decomposes: decomposing >= 0,
    strips: stripping >= 0 ? "marks" : "nothing",
    lowercases: types.includes("Lowercase"),
  };
}

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

/** Schema of a normalizer: one step, a Sequence of steps, or null. */
const Normalizer = v.pipe(
  v.nullish(v.union([Step, v.object({ type: v.literal("Sequence"), normalizers: v.array(Step) })])),
  v.transform((given) => (!given ? [] : given.type === "Sequence" ? given.normalizers : [given])),
);

/** Schema of the tokenizer.json of WordLevel, and of WordPiece: BERT, DistilBERT, ELECTRA, MPNet and most sentence encoders. */
export const WordPieceJson = v.object({
  ...common,
  normalizer: v.optional(Normalizer, null),
  pre_tokenizer: WordBreaks,
  /** Settings for turning tokens into a text. */
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

type NormalizerSteps = v.InferOutput<typeof Normalizer>;
