import { CODE_POINTS, type CodePoints, PAGE_BITS } from "../../../runtime/tokenizer/packed/code-points.ts";
import { once } from "./once.ts";

const PAGE = 1 << PAGE_BITS;
/** Planes 4 to 13, in which there is no character. */
const EMPTY = { first: 0x40000, end: 0xe0000 } as const;

export const isEmpty = (point: number): boolean => point > EMPTY.first && point < EMPTY.end;

/**
 * The table of `runtime/tokenizer/packed/code-points.ts`: pages that are the same are one.
 *
 * @param copies whether all pages of planes without characters are that before them
 */
export function codePointPages(numberOf: (point: number) => number, copies: boolean): CodePoints {
  const pages: number[] = [];
  const pageOf: number[] = [];
  const known = new Map<string, number>();
  for (let first = 0; first < CODE_POINTS; first += PAGE) {
    if (copies && isEmpty(first)) {
      pageOf.push(pageOf.at(-1) as number);
      continue;
    }
    const page = new Uint32Array(PAGE);
    for (let i = 0; i < PAGE; i++) page[i] = numberOf(first + i);
    pageOf.push(once(known, String.fromCharCode(...new Uint16Array(page.buffer)), () => pages.push(...page)));
  }
  return { pageOf: Uint32Array.from(pageOf), pages: Uint32Array.from(pages) };
}
