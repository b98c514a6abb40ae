import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { type CodePointTable, damagedTable, numberOf, openCodePoints } from "../code-points.ts";
import type { IntegerArray, TokenizerArrays } from "../packed-arrays.ts";
import { addOrigin, type Origins } from "../token-places.ts";
import { withRoom } from "../with-room.ts";
import { type Character, type Characters, CLASS_SHIFT, DROPPED } from "./character.ts";

/**
 * Maps each code point to its result: the characters that it becomes in a normalized text. The number of a code point
 * in the table is the index of its result.
 */
export interface CharacterTable extends CodePointTable {
  /** [results + 1]: index of the first character of each result. */
  readonly resultStart: IntegerArray;
  /** Characters of all results, one result after the other. */
  readonly symbols: IntegerArray;
}

/**
 * Result index of all Hangul syllables. The file has no results for Hangul syllables, because `lettersOf` computes
 * their letters.
 */
export const HANGUL_RESULT = 0;

// Constants of Hangul decomposition: https://www.unicode.org/versions/Unicode16.0.0/core-spec/chapter-3/#G56669
const SYLLABLES = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
const LEADING = 0x1100;
const VOWELS = 0x1161;
const TRAILING = 0x11a7;
const TRAILING_COUNT = 28;
const VOWEL_AND_TRAILING_COUNT = 588;
/** Maximum letters of a Hangul syllable. Few other characters become more than this. */
const LETTERS = 3;

/**
 * Opens the character table of a packed tokenizer.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openCharacters(arrays: TokenizerArrays<"wordpiece">): CharacterTable {
  const { resultStart, symbols } = arrays;
  const ascending = resultStart.every((start, i) => i === 0 || start >= (resultStart[i - 1] as number));
  if (!ascending || resultStart[resultStart.length - 1] !== symbols.length) throw damagedTable();
  return { ...openCodePoints(arrays), resultStart, symbols };
}

/**
 * Normalizes a text as the tokenizer's table defines: cleans and decomposes the text, sorts or strips its marks, and
 * converts it to lower case. Lone surrogates are read as U+FFFD.
 *
 * @param origins receives the origin of each character. Sorting marks does not move origins
 * @throws BertEdgeError `tokenizer_invalid` if a result is missing. `openCharacters` does not check this, because
 *   checking all results takes longer than normalizing a text.
 */
export function normalize(table: CharacterTable, text: string, origins?: Origins): Characters {
  const { resultStart, symbols } = table;
  let normalized: Characters = new Uint32Array(text.length);
  let length = 0;
  const push = (symbol: Character): void => {
    if (length === normalized.length) normalized = withRoom(normalized, Math.max(LETTERS * text.length, 2 * length));
    normalized[length++] = symbol;
  };
  // `marks` is the index of the first mark after the last character of combining class 0. `disordered` says whether the
  // marks from this index on are unsorted.
  let marks = 0;
  let disordered = false;
  const add = (codePoint: number): void => {
    const result = numberOf(table, codePoint);
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
        const last = length > marks ? (normalized[length - 1] as Character) : 0;
        if (last >>> CLASS_SHIFT > combining) disordered = true;
        push(symbol);
      } else {
        if (disordered) sortMarks(normalized.subarray(marks, length));
        disordered = false;
        if ((symbol & DROPPED) === 0) push(symbol);
        marks = length;
      }
    }
  };
  for (let at = 0; at < text.length; at++) {
    const codePoint = text.codePointAt(at) as number;
    if (origins) {
      const before = length;
      add(codePoint);
      addOrigin(origins, at, at + utf16Length(codePoint), length - before);
    } else add(codePoint);
    if (codePoint > 0xffff) at++;
  }
  if (disordered) sortMarks(normalized.subarray(marks, length));
  return normalized.subarray(0, length);
}

/** Returns the two or three letters of a Hangul syllable. */
function lettersOf(codePoint: number): number[] {
  if (codePoint < SYLLABLES || codePoint > LAST_SYLLABLE) throw damagedTable();
  const syllable = codePoint - SYLLABLES;
  const leading = LEADING + Math.floor(syllable / VOWEL_AND_TRAILING_COUNT);
  const vowel = VOWELS + Math.floor((syllable % VOWEL_AND_TRAILING_COUNT) / TRAILING_COUNT);
  const trailing = syllable % TRAILING_COUNT;
  return trailing > 0 ? [leading, vowel, TRAILING + trailing] : [leading, vowel];
}

/** Sorts marks by combining class. Marks of the same class keep their order. */
const sortMarks = (marks: Characters): unknown => marks.sort((a, b) => (a >>> CLASS_SHIFT) - (b >>> CLASS_SHIFT));
