import { randomNumbers } from "../fixtures/seeded.ts";

const words = "to be or not that is the question whether tis nobler in mind suffer slings and arrows of fortune".split(
  " ",
);

/** Draws a text. There are few different ones, so that expected answers are computed once. */
export const textOf = (length: number, which: number): string =>
  Array.from({ length }, (_, i) => words[(i * 7 + which) % words.length]).join(" ");

/** Words, and texts without blanks: one long word, Japanese, and Korean, whose syllables are decomposed. */
const longParts = [`${textOf(200, 0)} `, "slings", "吾輩は猫である。名前はまだ無い。", "대한민국의모든권력은", "éàüñç"];
export const LONG_TEXTS = longParts.length;

export const longText = (which: number, bytes: number): string => {
  const part = longParts[which] as string;
  return part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
};

/** Different texts of rare words: they need more rows of a token embedding table in pages than are kept in memory. */
export const RARE_TEXTS = 100;
const RARE_WORDS = 16;
const [CONSONANTS, VOWELS] = ["bcdfghjklmnprstvwz", "aeiou"];

/** Returns a text of words that do not exist. Tokenizers split them into rare tokens. */
export function rareText(which: number): string {
  const random = randomNumbers(which);
  const letter = (letters: string) => letters[Math.floor(random() * letters.length)] as string;
  const syllable = () => letter(CONSONANTS) + letter(VOWELS) + letter(CONSONANTS);
  return Array.from({ length: RARE_WORDS }, () => syllable() + syllable()).join(" ");
}
