/**
 * Code point classes for grapheme boundaries: https://www.unicode.org/reports/tr29/#Grapheme_Cluster_Boundary_Rules.
 * Regional indicators need no class. They only join each other, and two of them have eight UTF-8 bytes. A grapheme of
 * eight bytes is too long to be replaced as a whole.
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
  /** Like EXTEND, but ends a consonant conjunct. */
  EXTEND_APART: 14,
  LINKER: 15,
  ZWJ: 16,
} as const;

/** Number of low bits that hold the grapheme class in a code point's number: see `Charsmap`. */
export const CLASS_BITS = 5;
export const CLASS_MASK = (1 << CLASS_BITS) - 1;
