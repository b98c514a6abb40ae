/**
 * What a code point is, as bits; all that are neither letter, number nor space are of one kind too. From bit 8 on: its canonical
 * combining class.
 */
export const LETTER = 1;
export const NUMBER = 2;
export const SPACE = 4;
export const KIND_MASK = LETTER | NUMBER | SPACE;
/** Newer than the normalizer: it neither changes nor changes place. */
export const APART = 8;
export const CLASS_SHIFT = 8;
