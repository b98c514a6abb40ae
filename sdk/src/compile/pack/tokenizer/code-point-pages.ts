import { CODE_POINTS, type CodePointTable, PAGE_BITS } from "../../../runtime/tokenizer/packed/code-points.ts";

const PAGE = 1 << PAGE_BITS;
/** Code points of the Unicode planes 4 to 13, which have no characters. `end` is exclusive. */
const EMPTY = { first: 0x40000, end: 0xe0000 } as const;

/** Whether a code point is in a plane without characters. */
export const isInEmptyPlane = (point: number): boolean => point > EMPTY.first && point < EMPTY.end;

/**
 * Builds the table of `runtime/tokenizer/packed/code-points.ts`. Equal pages are stored once.
 *
 * @param areEmptyPlanesAlike whether all code points in planes without characters have the same number
 */
export function codePointPages(numberOf: (point: number) => number, areEmptyPlanesAlike: boolean): CodePointTable {
  const pages: number[] = [];
  const pageOf: number[] = [];
  const known = new Map<string, number>();
  for (let first = 0; first < CODE_POINTS; first += PAGE) {
    if (areEmptyPlanesAlike && isInEmptyPlane(first)) {
      pageOf.push(pageOf.at(-1) as number);
      continue;
    }
    const page = new Uint32Array(PAGE);
    for (let i = 0; i < PAGE; i++) page[i] = numberOf(first + i);
    const key = String.fromCharCode(...new Uint16Array(page.buffer));
    pageOf.push(numberOfKey(known, key, () => pages.push(...page)));
  }
  return { pageOf: Uint32Array.from(pageOf), pages: Uint32Array.from(pages) };
}

/** Returns the number of a key. Keys are numbered in the order of their first use; `onNew` is called for each new key. */
export function numberOfKey(known: Map<string, number>, key: string, onNew: () => void): number {
  const number = known.get(key);
  if (number !== undefined) return number;
  onNew();
  known.set(key, known.size);
  return known.size - 1;
}
