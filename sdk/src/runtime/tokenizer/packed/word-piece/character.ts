/**
 * A character of a normalized text, in 32 bits:
 *
 *     0–15   code: 1, 2, 3, … for the characters of the vocabulary; 0 for all other characters
 *     16–19  the flags below
 *     20–22  group: words end between characters of different groups
 *     24–31  canonical combining class
 */
export type Character = number;

/** White space, which separates words. */
export const SPACE = 1 << 16;
/** Punctuation, which is a word of its own. */
export const ISOLATED = 1 << 17;
/** Word character: a letter, mark, digit or connector (`\w`). No added token with `singleWord` is found next to it. */
export const WORD = 1 << 18;
/** Mark of combining class 0 that normalization removes. Marks before it are sorted separately from marks after it. */
export const DROPPED = 1 << 19;
export const GROUP_SHIFT = 20;
export const GROUP_MASK = 7 << GROUP_SHIFT;
export const CLASS_SHIFT = 24;

/** The characters of a normalized text. A list of numbers would take up to four times the memory while it grows. */
export type Characters = Uint32Array<ArrayBuffer>;
