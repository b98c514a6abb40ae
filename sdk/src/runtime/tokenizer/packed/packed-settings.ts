import * as v from "valibot";

const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A token that is found in the text before the text is split into words. */
const AddedToken = v.object({
  id: Whole,
  /** The characters to find: in their normalized form where `normalized` is set. */
  content: v.pipe(v.string(), v.minLength(1)),
  /** Whether the token is found in the normalized text instead of the text as given. */
  normalized: v.boolean(),
  /** Whether the token is ignored next to a letter, mark, digit or connector. */
  singleWord: v.boolean(),
  /** Whether the token includes the white space on its left, and on its right. */
  lstrip: v.boolean(),
  rstrip: v.boolean(),
});

const common = {
  /** Ids before and after every text. */
  prefix: v.array(Whole),
  suffix: v.array(Whole),
  added: v.array(AddedToken),
} as const;

const WordPieceSettings = v.object({
  ...common,
  kind: v.literal("wordpiece"),
  /** Id of words that cannot be split into tokens. */
  unknown: Whole,
  /** Characters of the longest word that is split, counted after normalization. */
  longestWord: Whole,
  /** Codes of the characters in front of tokens that continue a word: those of "##". */
  continuation: v.array(Whole),
  /** Code in front of normalized added tokens in the automaton; no character has it. */
  addedCode: Whole,
});

const ByteLevelSettings = v.object({
  ...common,
  kind: v.literal("byte-level"),
  /** Whether texts are brought into NFC. */
  composes: v.boolean(),
  /** Whether texts that do not begin with a space get one in front. */
  prefixSpace: v.boolean(),
});

const UnigramNormalizer = v.variant("type", [
  /** Replaces graphemes and characters by the charsmap's results. */
  v.object({ type: v.literal("map") }),
  /** Removes white space at the ends. */
  v.object({ type: v.literal("strip"), left: v.boolean(), right: v.boolean() }),
  /** Replaces runs of two or more blanks. */
  v.object({ type: v.literal("collapse"), content: v.string() }),
]);

const UnigramSettings = v.object({
  ...common,
  kind: v.literal("unigram"),
  /** Id of characters that are in no piece; neighbours share one. */
  unknown: Whole,
  /** Score of a code point that is no piece. */
  unknownScore: v.number(),
  /** Applied to a text in this order. */
  normalizers: v.array(UnigramNormalizer),
  /** Whether texts are split at white space, which is dropped. */
  separates: v.boolean(),
  /** Whether texts, or their words if `separates` is set, get a ▁ in front unless they begin with one. */
  prefixSpace: v.boolean(),
  /** Whether ▁ begins a new word. */
  splits: v.boolean(),
});

export const TokenizerSettings = v.variant("kind", [WordPieceSettings, ByteLevelSettings, UnigramSettings]);
export type TokenizerSettings = v.InferOutput<typeof TokenizerSettings>;
export type AddedToken = v.InferOutput<typeof AddedToken>;
export type WordPieceSettings = v.InferOutput<typeof WordPieceSettings>;
export type ByteLevelSettings = v.InferOutput<typeof ByteLevelSettings>;
export type UnigramSettings = v.InferOutput<typeof UnigramSettings>;
export type UnigramNormalizer = v.InferOutput<typeof UnigramNormalizer>;
