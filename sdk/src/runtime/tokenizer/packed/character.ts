/**
 * A character of normalized text, as a whole number of 32 bits:
 *
 *     0–15   its code: its place among the characters of the vocabulary, from 1 on; 0 for all others
 *     16–19  the flags below
 *     24–31  its canonical combining class
 */
export type Character = number;

export const CODE_MASK = 0xffff;
/** White_Space: between words. */
export const SPACE = 1 << 16;
/** Punctuation: a word of its own. */
export const ISOLATED = 1 << 17;
/** A letter, mark, digit or connector: `\w`. */
export const WORD = 1 << 18;
/** Removed, but marks before it do not change places with marks after it. */
export const DROPPED = 1 << 19;
export const CLASS_SHIFT = 24;
