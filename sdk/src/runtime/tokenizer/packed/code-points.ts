import { invalid } from "./packed-file.ts";
import type { Numbers } from "./packed-header.ts";

/** A number for each code point, found through pages of 2^PAGE_BITS code points. */
export interface CodePoints {
  /** [code points / page]: the page. */
  readonly pageOf: Numbers;
  /** [pages · page]: the number of each code point. */
  readonly pages: Numbers;
}

export const PAGE_BITS = 7;
export const CODE_POINTS = 0x110000;

const PAGE_MASK = (1 << PAGE_BITS) - 1;

export const damagedTable = () => invalid("has a table of characters that is damaged");

/** @throws BertEdgeError `tokenizer_invalid` */
export function openCodePoints({ pageOf, pages }: CodePoints): CodePoints {
  const count = pages.length >> PAGE_BITS;
  if (pageOf.length !== CODE_POINTS >> PAGE_BITS || !pageOf.every((page) => page < count)) throw damagedTable();
  return { pageOf, pages };
}

/** The number of a code point: lone surrogates have one too. */
export const numberOf = ({ pageOf, pages }: CodePoints, codePoint: number): number =>
  pages[((pageOf[codePoint >> PAGE_BITS] as number) << PAGE_BITS) | (codePoint & PAGE_MASK)] as number;
