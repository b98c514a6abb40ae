// Bits of the number that byte-level tokenizers store for each code point. The first three bits give the kind of the
// code point: letter, number or white space. Code points of any other kind have none of these three bits.

export const IS_LETTER = 1;
export const IS_NUMBER = 2;
export const IS_SPACE = 4;
export const KIND_MASK = IS_LETTER | IS_NUMBER | IS_SPACE;
/**
 * Marks a character that is newer than the Unicode version of the normalizer. NFC neither changes nor moves this
 * character.
 */
export const IS_APART = 8;
/** Marks a character that is always a part of its own when a text is split into parts: see `textParts`. */
export const IS_ISOLATED = 16;
/** The group of a character begins at this bit. Parts of a text end between characters of different groups. */
export const PART_SHIFT = 5;
export const PART_MASK = 7 << PART_SHIFT;
/** The canonical combining class begins at this bit. */
export const COMBINING_SHIFT = 8;
