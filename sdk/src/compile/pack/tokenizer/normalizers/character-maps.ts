import { codePointSet } from "../code-point-classes.ts";
import type { NormalizerJson } from "./normalizer-json.ts";
import rust from "./rust-normalizers.json" with { type: "json" };

/** Returns what a character becomes. */
export type CharacterMap = (character: string) => string;

const marks = codePointSet(rust.sets.marks);

// Characters that Nmt removes, and those that it replaces with a blank:
// https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/unicode.rs
const removed = codePointSet("1-8 b e-1f 7f 8f 9f");
const blank = codePointSet("9-a c-d 1680 200b-200f 2028-2029 2581 feff fffd");

const pointOf = (character: string): number => character.codePointAt(0) as number;

/** The normalizers that change each character by itself. */
const characterMaps: Partial<Record<NormalizerJson["type"], CharacterMap>> = {
  Lowercase: (character) => character.toLowerCase(),
  StripAccents: (character) => (marks.has(pointOf(character)) ? "" : character),
  Nmt: (character) => (removed.has(pointOf(character)) ? "" : blank.has(pointOf(character)) ? " " : character),
};

/** Returns the map of a normalizer; undefined if it reads more than one character at a time. */
export const characterMapOf = ({ type }: NormalizerJson): CharacterMap | undefined => characterMaps[type];
