import { utf16Length } from "../../../artifact/utf16-length.ts";

/** The places of a text's tokens. Positions count the units of the text: UTF-16, or characters of a normalized text. */
export interface TokenPlaces {
  /** Start and end of each token: [2 × tokens] */
  readonly spans: number[];
  /** Index of each token's word: [tokens]. Added tokens are words of their own. */
  readonly words: number[];
  /** Spaces at the start and at the end of each token: [2 × tokens]. Only byte-level tokenizers count them. */
  readonly spaces: number[];
  /** Number of code points of the prefix that marks a continued word, such as 2 for `##ing`: [tokens]. 0 except in WordPiece. */
  readonly prefixes: number[];
}

export const noPlaces = (): TokenPlaces => ({ spans: [], words: [], spaces: [], prefixes: [] });

/** Adds the place of a token. */
export function addPlace(
  { spans, words, spaces, prefixes }: TokenPlaces,
  [start, end]: readonly [start: number, end: number],
  word: number,
  [before, after]: readonly [before: number, after: number] = [0, 0],
  prefix = 0,
): void {
  spans.push(start, end);
  words.push(word);
  spaces.push(before, after);
  prefixes.push(prefix);
}

/** Removes the places of the last tokens. */
export function dropPlaces({ spans, words, spaces, prefixes }: TokenPlaces, count: number): void {
  spans.length -= 2 * count;
  spaces.length -= 2 * count;
  words.length -= count;
  prefixes.length -= count;
}

/** Returns the index that the next word gets. */
export const nextWord = ({ words }: TokenPlaces): number => (words.at(-1) ?? -1) + 1;

/**
 * The part of a text that each unit of its normalized form comes from: UTF-16 start and end, [2 × units]. If a normalizer replaces
 * characters by fewer ones, the last of the replaced characters are left out. If it adds characters, these come from the last replaced
 * character. Hugging Face's Rust tokenizers do the same:
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/tokenizer/normalizer.rs
 */
export type Origins = number[];

/** Adds the origin of units that come from the same part. */
export function addOrigin(origins: Origins, start: number, end: number, units = 1): void {
  for (let unit = 0; unit < units; unit++) origins.push(start, end);
}

/** Adds the origins of a text that no normalizer has changed: each code point is one part. */
export function addIdentity(origins: Origins, text: string): Origins {
  for (const [start, end] of codePointsOf(text)) addOrigin(origins, start, end, end - start);
  return origins;
}

/** Lists the start and the end of each code point of a text. */
export function* codePointsOf(text: string): Generator<readonly [start: number, end: number]> {
  for (let start = 0; start < text.length; ) {
    const end = start + utf16Length(text.codePointAt(start) as number);
    yield [start, end];
    start = end;
  }
}
