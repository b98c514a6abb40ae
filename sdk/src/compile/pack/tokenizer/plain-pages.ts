import { pagesWithBorders } from "./code-point-classes.ts";
import { pageText } from "./code-point-pages.ts";
import * as unicode from "./rust-unicode.ts";

const { combining, ...sets } = unicode;
const mixedPages = pagesWithBorders([...Object.values(sets), ...Object.values(combining)]);
const WHITE_SPACE = /\p{White_Space}/u;

/**
 * Whether all characters of a page are in the same classes, are no white space, and stay the same in NFD and in lower
 * case. Most pages are plain: tables are built much faster if they are not computed character by character. The result
 * can be false for a page that is plain.
 */
export function isPlainPage(first: number): boolean {
  if (mixedPages.has(first)) return false;
  const text = pageText(first);
  return text.toLowerCase() === text && text.normalize("NFD") === text && !WHITE_SPACE.test(text);
}
