import { utf8Length } from "../../../../artifact/utf8-length.ts";
import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { addPlace, nextWord, type TokenPlaces } from "../token-places.ts";

/** A word whose tokens have been found. */
interface SplitWord {
  readonly word: string;
  /** Buffer whose first `length` bytes are the word's UTF-8. */
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Position of each token's first byte. */
  readonly starts: readonly number[];
  /** Position of the word in the normalized text. */
  readonly at: number;
  /** Start, in the normalized text, of the part that was split into words. Only an added space lies before it. */
  readonly from: number;
}

/**
 * Adds the places of a word's tokens. A token that has some bytes of a character has the place of the whole character. A space
 * that was added has the place of the character after it.
 */
export function addBytePlaces(places: TokenPlaces, { word, bytes, length, starts, at, from }: SplitWord): void {
  const index = nextWord(places);
  // Start and end of the character that was read last, and the end of its bytes.
  let [start, end, bytesRead] = [0, 0, 0];
  const readTo = (byte: number): void => {
    while (bytesRead <= byte) {
      start = end;
      const point = word.codePointAt(start) as number;
      end += utf16Length(point);
      bytesRead += utf8Length(point);
    }
  };
  const hasPlaceOfNext = (): boolean => at + start < from && end < word.length;
  for (let token = 0; token < starts.length; token++) {
    const [first, next] = [starts[token] as number, starts[token + 1] ?? length];
    readTo(first);
    const begins = hasPlaceOfNext() ? end : start;
    readTo(next - 1);
    const ends = hasPlaceOfNext() ? end + utf16Length(word.codePointAt(end) as number) : end;
    addPlace(places, [at + begins, at + ends], index, spacesAround(bytes, first, next));
  }
}

const SPACE = 0x20;
/** Count of spaces at the end that marks a token of only spaces. */
export const ONLY_SPACES = -1;

/** Counts the spaces at the start and at the end of the token whose bytes are from `start` to `end` (exclusive). */
function spacesAround(bytes: Uint8Array, start: number, end: number): [before: number, after: number] {
  let [first, last] = [start, end];
  while (first < end && bytes[first] === SPACE) first++;
  if (first === end) return [end - start, ONLY_SPACES];
  while (bytes[last - 1] === SPACE) last--;
  return [first - start, end - last];
}
