import { pagesWithBorders } from "./code-point-classes.ts";
import { pageText } from "./code-point-pages.ts";
import * as unicode from "./rust-unicode.ts";

const { combining, ...sets } = unicode;
const mixedPages = pagesWithBorders([...Object.values(sets), ...Object.values(combining)]);
const WHITE_SPACE = /\p{White_Space}/u;

/**
 * Whether a page is plain: all characters are in the same classes, none is white space, and all stay the same in NFD
 * and in lower case. Most pages are plain, and tables are built much faster if plain pages are not computed character
 * by character. For some plain pages, the result is false.
 */
export function isPlainPage(first: number): boolean {
  if (mixedPages.has(first)) return false;
  const text = pageText(first);
  return text.toLowerCase() === text && text.normalize("NFD") === text && !WHITE_SPACE.test(text);
}
