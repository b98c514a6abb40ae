import { isWordCharacter } from "../../../runtime/tokenizer/packed/character-classes.ts";
import { isNumeric, pagesWithBorders } from "./code-point-classes.ts";
import { pageText } from "./code-point-pages.ts";
import unicode from "./rust-unicode.json" with { type: "json" };

const mixedPages = pagesWithBorders([...Object.values(unicode.sets), ...Object.values(unicode.combining)]);
const WHITE_SPACE = /\p{White_Space}/u;

/** Pages are the same for all tokenizers, so a process that packs several of them checks each page once. */
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

/** Whether a page is plain, and its characters are all of words or none, and all numbers or none. */
export const isPlainInWords = checkedOnce((first) => {
  if (!isPlainPage(first)) return false;
  const characters = Array.from(pageText(first));
  const words = characters.filter(isWordCharacter).length;
  const numbers = characters.filter((character) => isNumeric(character.codePointAt(0) as number)).length;
  return [words, numbers].every((count) => count === 0 || count === characters.length);
});
