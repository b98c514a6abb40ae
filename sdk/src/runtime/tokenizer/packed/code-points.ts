import type { IntegerArray } from "./packed-arrays.ts";
import { invalid } from "./packed-file.ts";

/** Maps each code point to a number. The numbers are stored in pages of 2^PAGE_BITS code points. */
export interface CodePointTable {
  /** [code points / page size]: index of the page for each range of code points. */
  readonly pageOf: IntegerArray;
  /** [pages · page size]: numbers of the code points. */
  readonly pages: IntegerArray;
}

export const PAGE_BITS = 7;
export const CODE_POINTS = 0x110000;

const PAGE_MASK = (1 << PAGE_BITS) - 1;

export const damagedTable = () => invalid("has a damaged table of characters");

/**
 * Checks that every page exists.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openCodePoints({ pageOf, pages }: CodePointTable): CodePointTable {
  const count = pages.length >> PAGE_BITS;
  if (pageOf.length !== CODE_POINTS >> PAGE_BITS || !pageOf.every((page) => page < count)) throw damagedTable();
  return { pageOf, pages };
}

/** Returns the number of a code point. Lone surrogates have a number too. */
export const numberOf = ({ pageOf, pages }: CodePointTable, codePoint: number): number =>
  pages[((pageOf[codePoint >> PAGE_BITS] as number) << PAGE_BITS) | (codePoint & PAGE_MASK)] as number;

/** Returns the first code point with each number, except 0. */
export function codePointsByNumber({ pageOf, pages }: CodePointTable): Map<number, number> {
  const first = new Map<number, number>();
  for (let page = 0; page < pageOf.length; page++) {
    for (let at = 0; at <= PAGE_MASK; at++) {
      const number = pages[((pageOf[page] as number) << PAGE_BITS) | at] as number;
      if (number !== 0 && !first.has(number)) first.set(number, (page << PAGE_BITS) | at);
    }
  }
  return first;
}
