import * as v from "valibot";
import { PairTokens } from "../pair-tokens.ts";

const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Text = v.pipe(v.string(), v.minLength(1));

/** Schema of an added token, for example [MASK]. Texts are split at added tokens before they are split into words. */
const AddedToken = v.object({
  id: Whole,
  /** Text of the token. If `normalized` is set, this is the normalized text. */
  content: Text,
  /** Whether to search for the token in the normalized text instead of the original text. */
  normalized: v.boolean(),
  /**
   * Whether the token is treated as ordinary text where it is next to a word character (letter, mark, digit or
   * connector).
   */
  singleWord: v.boolean(),
  /** Whether the token includes white space on its left (`lstrip`) and right (`rstrip`). */
  lstrip: v.boolean(),
  rstrip: v.boolean(),
  /** Whether the token is a mark for the model, such as [SEP], which is no part of a text. */
  special: v.boolean(),
});

const common = {
  /** Special token ids before (`prefix`) and after (`suffix`) every text. */
  prefix: v.array(Whole),
  suffix: v.array(Whole),
  /** Special token ids around two texts. Missing if the tokenizer cannot encode pairs. */
  pair: v.optional(PairTokens),
  added: v.array(AddedToken),
  /** Whether decoding applies `cleanUp` to the whole text. Default false. */
  cleansTexts: v.optional(v.boolean()),
  /** Id of the `unk_token` of tokenizer_config.json. Set only if the algorithm uses another token, or none, for unknown text. */
  namedUnknown: v.optional(Whole),
  /** Whether decoding only joins the spellings of the tokens with blanks. Default false. */
  joinsAsSpelled: v.optional(v.boolean()),
} as const;

const WordPieceSettings = v.object({
  ...common,
  kind: v.literal("wordpiece"),
  /** Token id for words that cannot be split into tokens. */
  unknown: Whole,
  /** Words with more characters than this, counted after normalization, become one unknown token. */
  longestWord: Whole,
  /** The characters of the vocabulary, in the order of their codes, which begin with 1. */
  characters: v.string(),
  /** Whether decoding removes the blank before punctuation and English contractions in each token. */
  cleansUp: v.boolean(),
  /** Codes of the characters of a prefix, usually "##". Tokens that continue a word begin with this prefix. */
  continuation: v.array(Whole),
  /**
   * A code that no character has. The automaton also contains the added tokens whose `normalized` is true, and their
   * paths begin with this code.
   */
  addedCode: Whole,
});

/** A step that changes a text before it is split. `table` is the index of a table of code points: see `openCharsmaps`. */
const NormalizerStep = v.variant("type", [
  /** Replaces graphemes and code points: see `applyCharsmap`. Default table: the first one. */
  v.object({ type: v.literal("map"), table: v.optional(Whole, 0) }),
  /** Replaces single code points. */
  v.object({ type: v.literal("each"), table: Whole }),
  /** Converts the text to one of Unicode's normalization forms. The table has the bits of code-point-flags.ts. */
  v.object({ type: v.literal("form"), form: v.picklist(["NFC", "NFD", "NFKC", "NFKD"]), table: Whole }),
  /** Removes white space at the start (`left`) and end (`right`) of the text. */
  v.object({ type: v.literal("strip"), left: v.boolean(), right: v.boolean() }),
  /** Replaces each run of two or more blanks with `content`. */
  v.object({ type: v.literal("collapse"), content: v.string() }),
  /** Replaces each run of two or more white-space characters, and each line end or tab, with `content`. */
  v.object({ type: v.literal("spaces"), content: v.string() }),
  /** Replaces every `from` with `content`. */
  v.object({ type: v.literal("replace"), from: Text, content: v.string() }),
  /** Puts `content` before the text, unless the text is empty. */
  v.object({ type: v.literal("prepend"), content: Text }),
]);

/** Normalizers in the order of their use. */
const normalizers = v.optional(v.array(NormalizerStep), []);

/** Variant of the pattern with which Llama 3 and Qwen find words in texts. */
const WordPattern = v.object({
  /** Whether a contraction such as 's is a word. */
  contracts: v.boolean(),
  /** Maximum digits of a number. Missing: no limit. */
  longestNumber: v.optional(Whole),
});

const ByteLevelSettings = v.object({
  ...common,
  kind: v.literal("byte-level"),
  /** Pattern that finds words. Default: GPT-2's pattern. */
  pattern: v.optional(WordPattern),
  /** Set if `textParts` splits texts before words are found. */
  parts: v.optional(v.object({ separates: v.boolean() })),
  /** Texts and ids of tokens that merging does not give. A word with the text of such a token becomes this token. */
  whole: v.optional(v.array(v.tuple([v.string(), Whole])), []),
  normalizers,
  /** Whether to put a space before texts that do not start with a space. */
  prefixSpace: v.boolean(),
  /** Whether the places of tokens leave out white space around them. Default false. */
  trimsOffsets: v.optional(v.boolean()),
  /** With `trimsOffsets`: whether the place of the first token keeps one space. Default: `prefixSpace`. */
  trimKeepsSpace: v.optional(v.boolean()),
});

const UnigramSettings = v.object({
  ...common,
  kind: v.literal("unigram"),
  /** Token id for characters that are not in any piece. A run of these characters is one token. */
  unknown: Whole,
  /** Score of a code point that is not a piece. */
  unknownScore: v.number(),
  normalizers,
  /** Whether texts are split at white space, which is then dropped. */
  separates: v.boolean(),
  /** Index of the table in which punctuation has the number 1. Each such character becomes its own part. Missing: no character does. */
  punctuation: v.optional(Whole),
  /**
   * Whether to put ▁ before each text that starts with neither ▁ nor a blank. If `separates` or `punctuation` is set, this
   * applies to each part.
   */
  prefixSpace: v.boolean(),
  /** Whether each ▁ begins a new word. */
  splits: v.boolean(),
});

const BpeSettings = v.object({
  ...common,
  kind: v.literal("bpe"),
  /** Token id for characters that are no token. Missing: they become the tokens of their bytes. */
  unknown: v.optional(Whole),
  /** Whether neighbouring unknown characters of a word are one token. */
  fusesUnknown: v.boolean(),
  normalizers,
  /** Set if blanks become ▁ after the normalizers. */
  metaspace: v.optional(
    v.object({
      /** Whether ▁ is put before texts that start with neither ▁ nor a blank. */
      prefixSpace: v.boolean(),
    }),
  ),
  /** Places at which words begin: each ▁, or each run of ▁. No merge crosses the beginning of a word. Missing: a text is one word. */
  splits: v.optional(v.picklist(["each", "runs"])),
  /** Set if `textParts` splits texts before words are found. */
  parts: v.optional(v.object({ separates: v.boolean() })),
  /** Texts and ids of tokens that merging does not give. */
  whole: v.array(v.tuple([v.string(), Whole])),
  /** Whether a word with the text of a token in `whole` becomes this token. */
  ignoresMerges: v.boolean(),
  /** Each ▁ that decoding removes instead of making it a blank: all in the first token (`first-token`), or one at the start (`first`). */
  drops: v.picklist(["nothing", "first-token", "first"]),
  /** Whether decoding joins tokens of bytes to characters: see `withBytes`. */
  decodesBytes: v.boolean(),
});

export const TokenizerSettings = v.variant("kind", [
  WordPieceSettings,
  ByteLevelSettings,
  UnigramSettings,
  BpeSettings,
]);
export type TokenizerSettings = v.InferOutput<typeof TokenizerSettings>;
export type AddedToken = v.InferOutput<typeof AddedToken>;
export type WordPieceSettings = v.InferOutput<typeof WordPieceSettings>;
export type ByteLevelSettings = v.InferOutput<typeof ByteLevelSettings>;
export type BpeSettings = v.InferOutput<typeof BpeSettings>;
export type WordPattern = v.InferOutput<typeof WordPattern>;
export type UnigramSettings = v.InferOutput<typeof UnigramSettings>;
export type NormalizerStep = v.InferOutput<typeof NormalizerStep>;
export type UnicodeForm = Extract<NormalizerStep, { type: "form" }>["form"];
