import { addPlace, codePointsOf, nextWord, type TokenPlaces } from "../token-places.ts";

/** A word whose tokens have been found. */
interface SplitWord {
  readonly word: string;
  /** The word's UTF-8. */
  readonly bytes: Uint8Array;
  /** Position of each token's first byte. */
  readonly starts: readonly number[];
  /** Position of the word in the normalized text. */
  readonly at: number;
  /** Position in the normalized text at which what is split begins. Only a space that was added is before it. */
  readonly from: number;
}

/**
 * Adds the places of a word's tokens. A token that has some bytes of a character has the place of the whole character. A space
 * that was added has the place of the character after it.
 */
export function addBytePlaces(places: TokenPlaces, { word, bytes, starts, at, from }: SplitWord): void {
  /** Start and end of the character that each byte belongs to. */
  const characters: (readonly [start: number, end: number])[] = [];
  const parts = [...codePointsOf(word)];
  parts.forEach((part, i) => {
    const place = at + part[0] < from ? (parts[i + 1] ?? part) : part;
    for (let byte = bytesOf(word.codePointAt(part[0]) as number); byte > 0; byte--) characters.push(place);
  });
  const index = nextWord(places);
  starts.forEach((first, i) => {
    const last = (starts[i + 1] ?? characters.length) - 1;
    const place = [at + (characters[first]?.[0] ?? 0), at + (characters[last]?.[1] ?? 0)] as const;
    addPlace(places, place, index, spacesAround(bytes.subarray(first, last + 1)));
  });
}

const SPACE = 0x20;
/** Spaces at the end of a token that has nothing else. */
export const ONLY_SPACES = -1;

/** Counts the spaces at the start and at the end of a token's bytes. */
function spacesAround(bytes: Uint8Array): [before: number, after: number] {
  const first = bytes.findIndex((byte) => byte !== SPACE);
  if (first < 0) return [bytes.length, ONLY_SPACES];
  return [first, bytes.length - 1 - bytes.findLastIndex((byte) => byte !== SPACE)];
}

const bytesOf = (point: number): number => (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4);
