import { CODE_POINTS } from "../../../runtime/tokenizer/packed/code-points.ts";
import { pagesWith } from "./code-point-pages.ts";
import unicode from "./rust-unicode.json" with { type: "json" };

/** A set of code points. */
export interface CodePointSet {
  has(point: number): boolean;
}

/**
 * The sets of code points that Hugging Face's Rust tokenizers use. They do not depend on the Unicode version of
 * Node.js.
 */
export const classes = {
  /** Characters that cleaning removes: control and format characters, private use, NUL and U+FFFD. */
  removed: codePointSet(unicode.sets.removed),
  /** Punctuation: ASCII symbols, and the punctuation of Unicode 8. */
  punctuation: codePointSet(unicode.sets.punctuation),
  /** Blocks of CJK ideographs. */
  ideographs: codePointSet(unicode.sets.ideographs),
  /** Nonspacing marks (Unicode category Mn). */
  nonspacing: codePointSet(unicode.sets.nonspacing),
  /** Marks (Unicode category M). */
  marks: codePointSet(unicode.sets.marks),
  /** Characters that JavaScript decomposes and the Rust tokenizers do not, because their Unicode version is older. */
  undecomposed: codePointSet(unicode.sets.undecomposed),
  /** Characters that JavaScript reorders, decomposes or composes and the Rust tokenizers do not. */
  apart: codePointSet(unicode.sets.apart),
  /** Letters (Unicode category L). */
  letters: codePointSet(unicode.sets.letters),
  /** Numbers (Unicode category N). */
  numbers: codePointSet(unicode.sets.numbers),
} as const;

/** Numbers that are newer than the Unicode version in which the tokenizers' patterns have `\p{N}`. */
const isNewNumber = (point: number): boolean =>
  (point >= 0x11de0 && point <= 0x11de9) || (point >= 0x16ff4 && point <= 0x16ff6);

/** Whether a code point is `is_numeric` of Rust, which the pre-tokenizer Digits uses. */
export const isNumeric = (point: number): boolean => classes.numbers.has(point) || isNewNumber(point);

const combiningClasses = codePointNumbers(
  Object.entries(unicode.combining).map(([combiningClass, ranges]) => [Number(combiningClass), ranges]),
);

/** Returns the canonical combining class of a character that does not decompose. */
export const combiningClassOf = (point: number): number => combiningClasses[point] as number;

/** Returns the set of code points in a list of hexadecimal ranges and single values, such as "61-63 ff". */
export function codePointSet(ranges: string): CodePointSet {
  const isIn = codePointNumbers([[1, ranges]]);
  return { has: (point) => isIn[point] === 1 };
}

/**
 * Returns an array with a number from 0 to 255 for each code point. Each entry assigns its number to the code points
 * in its ranges. All other code points get 0.
 */
export function codePointNumbers(entries: Iterable<readonly [number: number, ranges: string]>): Uint8Array {
  const numbers = new Uint8Array(CODE_POINTS);
  for (const [number, text] of entries) {
    for (const { first, last } of rangesIn(text)) numbers.fill(number, first, last + 1);
  }
  return numbers;
}

/**
 * Returns the first code points of the pages in which a range starts or ends. In every other page, all code points are
 * in the same ranges.
 */
export const pagesWithBorders = (lists: readonly string[]): ReadonlySet<number> =>
  pagesWith(lists.flatMap(rangesIn).flatMap(({ first, last }) => [first, last + 1]));

function rangesIn(ranges: string): { first: number; last: number }[] {
  return ranges.split(" ").map((range) => {
    const [first, last = first] = range.split("-").map((digits) => Number.parseInt(digits, 16)) as [number, number?];
    return { first, last };
  });
}
