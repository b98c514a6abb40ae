/**
 * Classes of code points for grapheme boundaries: https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules.
 * Regional indicators need no class: they only join each other, and two are longer than any key of a charsmap.
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

/** Low bits of a code point's number in a charsmap: its class. The result is above them. */
export const CLASS_BITS = 5;
export const CLASS_MASK = (1 << CLASS_BITS) - 1;
