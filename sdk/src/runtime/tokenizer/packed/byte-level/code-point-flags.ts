// Bits of the number that byte-level tokenizers store for each code point. The first three bits are the kind of the code
// point. If none of them is set, it is neither a letter nor a number nor white space.

export const IS_LETTER = 1;
export const IS_NUMBER = 2;
export const IS_SPACE = 4;
export const KIND_MASK = IS_LETTER | IS_NUMBER | IS_SPACE;
/** Character that is newer than the normalizer's Unicode version: NFC neither changes nor moves it. */
export const IS_APART = 8;
/** The canonical combining class begins at this bit. */
export const COMBINING_SHIFT = 8;
