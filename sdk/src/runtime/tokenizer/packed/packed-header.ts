import * as v from "valibot";

export const arrayTypes = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array } as const;
export type ArrayType = keyof typeof arrayTypes;
/** Whole numbers of a section. */
export type Numbers = InstanceType<(typeof arrayTypes)[Exclude<ArrayType, "f64">]>;
/** Sections begin at multiples of as many bytes, or of a number's where these are more. */
export const ALIGNMENT = 4;

const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Section = v.object({
  type: v.picklist(["u8", "u16", "u32"]),
  offset: v.pipe(Whole, v.multipleOf(ALIGNMENT)),
  length: Whole,
});
const RealSection = v.object({
  type: v.literal("f64"),
  offset: v.pipe(Whole, v.multipleOf(Float64Array.BYTES_PER_ELEMENT)),
  length: Whole,
});

/** A token that is found in the text before words are: `normalized` ones in the normalized text. */
const AddedToken = v.object({
  id: Whole,
  /** What is found, normalized where that is looked at. */
  content: v.pipe(v.string(), v.minLength(1)),
  normalized: v.boolean(),
  singleWord: v.boolean(),
  lstrip: v.boolean(),
  rstrip: v.boolean(),
});

const common = {
  /** Ids before and after every text. */
  prefix: v.array(Whole),
  suffix: v.array(Whole),
  added: v.array(AddedToken),
} as const;

// Where sections lie, by their names; `code-points.ts`, `characters.ts`, `automaton.ts`, `byte-level/merges.ts`, `unigram/charsmap.ts` and
// `unigram/pieces.ts` say what they hold.
const codePoints = { pageOf: Section, pages: Section } as const;
const characters = { ...codePoints, resultStart: Section, symbols: Section } as const;
const automaton = { edgeStart: Section, labels: Section, targets: Section, accepts: Section, ids: Section } as const;
const merges = { byteIds: Section, rightStart: Section, rights: Section, ranks: Section, merged: Section } as const;
const charsmap = { ...codePoints, pairs: Section, pairResults: Section, results: Section } as const;
const pieces = {
  ...automaton,
  codePageOf: Section,
  codePages: Section,
  byteIds: Section,
  scores: RealSection,
} as const;

/** What is done to a text, one after the other. */
const Step = v.variant("type", [
  /** Replaces what the charsmap has. */
  v.object({ type: v.literal("map") }),
  /** Removes white space at the ends. */
  v.object({ type: v.literal("strip"), left: v.boolean(), right: v.boolean() }),
  /** Replaces two or more blanks. */
  v.object({ type: v.literal("collapse"), content: v.string() }),
]);

const WordPieceHeader = v.object({
  ...common,
  kind: v.literal("wordpiece"),
  /** Id of words that cannot be split into tokens. */
  unknown: Whole,
  /** Characters of the longest word that is split, after normalization. */
  longestWord: Whole,
  /** Codes in front of tokens that do not begin a word: those of ##. */
  continuation: v.array(Whole),
  /** The code in front of normalized added tokens; no character has it. */
  addedCode: Whole,
  sections: v.object({ ...characters, ...automaton }),
});

const ByteLevelHeader = v.object({
  ...common,
  kind: v.literal("byte-level"),
  /** Whether texts are composed: NFC. */
  composes: v.boolean(),
  /** Whether a space is put before texts that do not begin with one. */
  prefixSpace: v.boolean(),
  sections: v.object({ ...codePoints, ...merges }),
});

const UnigramHeader = v.object({
  ...common,
  kind: v.literal("unigram"),
  /** Id of what no piece has, however long. */
  unknown: Whole,
  /** Score of a code point that is no piece. */
  unknownScore: v.number(),
  steps: v.array(Step),
  /** Whether texts are cut at white space, which is dropped. */
  separates: v.boolean(),
  /** Whether texts, or what they are cut into, get a ▁ in front where they have none. */
  prefixSpace: v.boolean(),
  /** Whether a piece has a ▁ at its beginning only. */
  splits: v.boolean(),
  sections: v.object({ ...charsmap, ...pieces }),
});

export const Header = v.variant("kind", [WordPieceHeader, ByteLevelHeader, UnigramHeader]);

export type Step = v.InferOutput<typeof Step>;
export type AddedToken = v.InferOutput<typeof AddedToken>;
export type Header = v.InferOutput<typeof Header>;
export type WordPieceHeader = v.InferOutput<typeof WordPieceHeader>;
export type ByteLevelHeader = v.InferOutput<typeof ByteLevelHeader>;
export type UnigramHeader = v.InferOutput<typeof UnigramHeader>;
