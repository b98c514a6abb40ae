/**
 * What a code point is for the graphemes that it is in; https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules.
 * A regional indicator is of no class of its own: it only joins others of four bytes.
 */
export const graphemeClasses = {
  OTHER: 0,
  CONTROL: 1,
  CR: 2,
  LF: 3,
  PREPEND: 4,
  L: 5,
  V: 6,
  T: 7,
  LV: 8,
  LVT: 9,
  CONSONANT: 10,
  PICTOGRAPHIC: 11,
  SPACING_MARK: 12,
  EXTEND: 13,
  /** Extends graphemes, but not the conjuncts of consonants. */
  EXTEND_APART: 14,
  LINKER: 15,
  ZWJ: 16,
} as const;

/** Of a number in `charsmap.ts`: the class, below the result. */
export const CLASS_BITS = 5;
export const CLASS_MASK = (1 << CLASS_BITS) - 1;
