import { CODE_POINTS, type CodePointTable, PAGE_BITS } from "../../../runtime/tokenizer/packed/code-points.ts";

const PAGE = 1 << PAGE_BITS;

/** Returns the pages that contain one of the code points. A page is given by its first code point. */
export const pagesWith = (points: Iterable<number>): ReadonlySet<number> =>
  new Set(Array.from(points, (point) => point - (point % PAGE)));

/** Returns the characters of the page that begins with the code point `first`. */
export function pageText(first: number): string {
  const points: number[] = [];
  for (let i = 0; i < PAGE; i++) points.push(first + i);
  return String.fromCodePoint(...points);
}

/**
 * Builds the table of `runtime/tokenizer/packed/code-points.ts`. Equal pages are stored once.
 *
 * @param isUniform takes the first code point of a page. True means that `numberOf` gives all code points of the page
 *   the same number. False means that this is not known.
 */
export function codePointPages(
  numberOf: (point: number) => number,
  isUniform: (first: number) => boolean,
): CodePointTable {
  const pages: number[] = [];
  const known = new Map<string, number>();
  const indexOf = (page: Uint32Array<ArrayBuffer>): number =>
    numberOfKey(known, String.fromCharCode(...new Uint16Array(page.buffer)), () => pages.push(...page));
  const indexOfUniform = new Map<number, number>();
  const pageOf: number[] = [];
  for (let first = 0; first < CODE_POINTS; first += PAGE) {
    if (isUniform(first)) {
      const number = numberOf(first);
      const index = indexOfUniform.get(number) ?? indexOf(new Uint32Array(PAGE).fill(number));
      indexOfUniform.set(number, index);
      pageOf.push(index);
    } else pageOf.push(indexOf(Uint32Array.from({ length: PAGE }, (_, i) => numberOf(first + i))));
  }
  return { pageOf: Uint32Array.from(pageOf), pages: Uint32Array.from(pages) };
}

/** Returns the number of a key. Keys are numbered in the order of their first use. Calls `onNew` for each new key. */
export function numberOfKey(known: Map<string, number>, key: string, onNew: () => void): number {
  const number = known.get(key);
  if (number !== undefined) return number;
  onNew();
  known.set(key, known.size);
  return known.size - 1;
}
