import { isWordCharacter } from "../../../runtime/tokenizer/packed/character-classes.ts";
import { CODE_POINTS } from "../../../runtime/tokenizer/packed/code-points.ts";
import { pagesWith, pageText } from "./code-point-pages.ts";
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

/** Whether a code point is a number that the tokenizers' `\p{N}` does not match, because their Unicode version is older. */
const isNewNumber = (point: number): boolean =>
  (point >= 0x11de0 && point <= 0x11de9) || (point >= 0x16ff4 && point <= 0x16ff6);

/** Whether Rust's `is_numeric`, which the pre-tokenizer Digits uses, returns true for a code point. */
export const isNumeric = (point: number): boolean => classes.numbers.has(point) || isNewNumber(point);

const combiningClasses = codePointNumbers(
  Object.entries(unicode.combining).map(([combiningClass, ranges]) => [Number(combiningClass), ranges]),
);

const classNumbers = new Uint32Array(combiningClasses);
for (const [bit, ranges] of Object.values(unicode.sets).entries()) {
  for (const { first, last } of rangesIn(ranges)) {
    for (let point = first; point <= last; point++)
      classNumbers[point] = (classNumbers[point] as number) | (256 << bit);
  }
}

/** Returns a number that is the same for code points of the same classes and the same combining class. */
export const classesOf = (point: number): number => classNumbers[point] as number;

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

const mixedPages = pagesWithBorders([...Object.values(unicode.sets), ...Object.values(unicode.combining)]);
const WHITE_SPACE = /\p{White_Space}/u;

/** Caches the results of a check. Pages are the same for all tokenizers, so a process that packs several checks each page once. */
function checkedOnce(check: (first: number) => boolean): (first: number) => boolean {
  const checked = new Map<number, boolean>();
  return (first) => {
    const known = checked.get(first) ?? check(first);
    checked.set(first, known);
    return known;
  };
}

/**
 * Whether a page is plain: its characters all have the same classes, none is white space, and neither NFD nor lower
 * case changes them. Most pages are plain, and tables are built much faster if plain pages are not computed character
 * by character. The function may return false for a plain page, but never true for any other page.
 */
export const isPlainPage = checkedOnce((first) => {
  if (mixedPages.has(first)) return false;
  const text = pageText(first);
  return text.toLowerCase() === text && text.normalize("NFD") === text && !WHITE_SPACE.test(text);
});

/** Whether a page is plain, either all or none of its characters are word characters, and either all or none are numbers. */
export const isPlainInWords = checkedOnce((first) => {
  if (!isPlainPage(first)) return false;
  const characters = Array.from(pageText(first));
  const words = characters.filter(isWordCharacter).length;
  const numbers = characters.filter((character) => isNumeric(character.codePointAt(0) as number)).length;
  return [words, numbers].every((count) => count === 0 || count === characters.length);
});
