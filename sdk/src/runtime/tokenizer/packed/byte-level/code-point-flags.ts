// Bits of a code point's number in byte-level tokenizers. Code points without any of the first three are one kind too.

export const IS_LETTER = 1;
export const IS_NUMBER = 2;
export const IS_SPACE = 4;
export const KIND_MASK = IS_LETTER | IS_NUMBER | IS_SPACE;
/** Newer than the normalizer's Unicode: NFC neither changes nor moves it. */
export const IS_APART = 8;
/** The canonical combining class, in the bits from 8 on. */
export const COMBINING_SHIFT = 8;
