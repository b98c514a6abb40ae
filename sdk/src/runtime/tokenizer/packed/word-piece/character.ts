/**
 * A character of a normalized text, in 32 bits:
 *
 *     0–15   code: its number among the characters of the vocabulary, from 1 on; 0 for other characters
 *     16–19  the flags below
 *     24–31  canonical combining class
 */
export type Character = number;

/** White space, between words. */
export const SPACE = 1 << 16;
/** Punctuation: a word of its own. */
export const ISOLATED = 1 << 17;
/** A letter, mark, digit or connector: `\w`. */
export const WORD = 1 << 18;
/** Removed, but a barrier: marks before and after it are not sorted together. */
export const DROPPED = 1 << 19;
export const CLASS_SHIFT = 24;
