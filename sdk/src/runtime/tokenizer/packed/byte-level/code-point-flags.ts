// Bits of a code point's number in byte-level tokenizers. The first three bits are its kind; if none is set, it is any
// other character.

export const IS_LETTER = 1;
export const IS_NUMBER = 2;
export const IS_SPACE = 4;
export const KIND_MASK = IS_LETTER | IS_NUMBER | IS_SPACE;
/** Character that is newer than the normalizer's Unicode version: NFC neither changes nor moves it. */
export const IS_APART = 8;
/** First bit of the canonical combining class. */
export const COMBINING_SHIFT = 8;
