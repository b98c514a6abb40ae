import { pagesWithBorders } from "./code-point-classes.ts";
import { pageText } from "./code-point-pages.ts";
import unicode from "./rust-unicode.json" with { type: "json" };

const mixedPages = pagesWithBorders([...Object.values(unicode.sets), ...Object.values(unicode.combining)]);
const WHITE_SPACE = /\p{White_Space}/u;

/** Pages are the same for all tokenizers, so a process that packs several of them checks each page once. */
const checked = new Map<number, boolean>();

/**
 * Whether a page is plain: its characters all have the same classes, none is white space, and neither NFD nor lower
 * case changes them. Most pages are plain, and tables are built much faster if plain pages are not computed character
 * by character. The function may return false for a plain page, but never true for any other page.
 */
export function isPlainPage(first: number): boolean {
  const known = checked.get(first) ?? isPlain(first);
  checked.set(first, known);
  return known;
}

function isPlain(first: number): boolean {
  if (mixedPages.has(first)) return false;
  const text = pageText(first);
  return text.toLowerCase() === text && text.normalize("NFD") === text && !WHITE_SPACE.test(text);
}
