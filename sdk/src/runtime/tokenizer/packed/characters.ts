import { type Character, CLASS_SHIFT, DROPPED } from "./character.ts";
import { type CodePoints, damagedTable, numberOf, openCodePoints } from "./code-points.ts";
import type { Sections } from "./packed-file.ts";
import type { Numbers, WordPieceHeader } from "./packed-header.ts";

/** What each code point becomes: its number is its result. */
export interface Characters extends CodePoints {
  /** [results + 1]: where the symbols of each result begin. */
  readonly resultStart: Numbers;
  readonly symbols: Numbers;
}

/** The result of a Hangul syllable that is decomposed. */
export const HANGUL_RESULT = 0;

// https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G56669
const SYLLABLES = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
const LEADING = 0x1100;
const VOWELS = 0x1161;
const TRAILING = 0x11a7;
const TRAILING_COUNT = 28;
const VOWEL_AND_TRAILING_COUNT = 588;

/** @throws BertEdgeError `tokenizer_invalid` */
export function openCharacters(sections: Sections<WordPieceHeader>): Characters {
  const { resultStart, symbols } = sections;
  const ascending = resultStart.every((start, i) => i === 0 || start >= (resultStart[i - 1] as number));
  if (!ascending || resultStart[resultStart.length - 1] !== symbols.length) throw damagedTable();
  return { ...openCodePoints(sections), resultStart, symbols };
}

/**
 * The normalized text: cleaned, decomposed, in canonical order, without accents, in lower case, as far as the tokenizer
 * asks for each. Lone surrogates are read as U+FFFD.
 *
 * @throws BertEdgeError `tokenizer_invalid` when the table has no such result: to look at all of them beforehand
 *   would take longer than a text does
 */
export function normalize(characters: Characters, text: string): Character[] {
  const { resultStart, symbols } = characters;
  const normalized: Character[] = [];
  // Where marks after the last character of combining class 0 begin, and whether they are out of order.
  let marks = 0;
  let disordered = false;
  const add = (codePoint: number): void => {
    const result = numberOf(characters, codePoint);
    if (result === HANGUL_RESULT) {
      for (const letter of lettersOf(codePoint)) add(letter);
      return;
    }
    const end = resultStart[result + 1];
    if (end === undefined) throw damagedTable();
    for (let i = resultStart[result] as number; i < end; i++) {
      const symbol = symbols[i] as Character;
      const combining = symbol >>> CLASS_SHIFT;
      if (combining > 0) {
        const last = normalized.length > marks ? (normalized.at(-1) as Character) : 0;
        if (last >>> CLASS_SHIFT > combining) disordered = true;
        normalized.push(symbol);
      } else {
        if (disordered) order(normalized, marks);
        disordered = false;
        if ((symbol & DROPPED) === 0) normalized.push(symbol);
        marks = normalized.length;
      }
    }
  };
  for (let at = 0; at < text.length; at++) {
    const codePoint = text.codePointAt(at) as number;
    if (codePoint > 0xffff) at++;
    add(codePoint);
  }
  if (disordered) order(normalized, marks);
  return normalized;
}

/** The two or three letters of a syllable. */
function lettersOf(codePoint: number): number[] {
  if (codePoint < SYLLABLES || codePoint > LAST_SYLLABLE) throw damagedTable();
  const syllable = codePoint - SYLLABLES;
  const leading = LEADING + Math.floor(syllable / VOWEL_AND_TRAILING_COUNT);
  const vowel = VOWELS + Math.floor((syllable % VOWEL_AND_TRAILING_COUNT) / TRAILING_COUNT);
  const trailing = syllable % TRAILING_COUNT;
  return trailing > 0 ? [leading, vowel, TRAILING + trailing] : [leading, vowel];
}

/** The marks at the end in canonical order; those of the same class keep theirs. */
function order(normalized: Character[], from: number): void {
  const marks = normalized.splice(from);
  for (const mark of marks.sort((a, b) => (a >>> CLASS_SHIFT) - (b >>> CLASS_SHIFT))) normalized.push(mark);
}
