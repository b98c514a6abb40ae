import { type Automaton, follow, longestWord, type Place, START } from "./automaton.ts";
import { type Character, ISOLATED, SPACE } from "./character.ts";
import type { WordPieceHeader } from "./packed-header.ts";

/** Appends the ids of a part of a normalized text. */
export type WordPieces = (symbols: readonly Character[], start: number, end: number, ids: number[]) => void;

/**
 * Words between white space, punctuation on its own; each cut into the longest tokens that it begins with, one after the
 * other.
 */
export function createWordPieces(
  { continuation, longestWord: longest, unknown }: WordPieceHeader,
  automaton: Automaton,
): WordPieces {
  const inside = continuation.reduce<Place | undefined>(
    (place, code) => place && follow(automaton, place, code),
    START,
  );

  const cut = (symbols: readonly Character[], start: number, end: number, ids: number[]) => {
    const before = ids.length;
    let place: Place | undefined = START;
    for (let at = start; at < end; ) {
      const piece = end - start <= longest && place ? longestWord(automaton, place, symbols, at, end) : undefined;
      if (!piece) {
        ids.length = before;
        ids.push(unknown);
        return;
      }
      ids.push(piece.id);
      at = piece.end;
      place = inside;
    }
  };

  return (symbols, start, end, ids) => {
    let wordStart = start;
    for (let at = start; at < end; at++) {
      const symbol = symbols[at] as Character;
      if ((symbol & (SPACE | ISOLATED)) === 0) continue;
      cut(symbols, wordStart, at, ids);
      if ((symbol & ISOLATED) !== 0) cut(symbols, at, at + 1, ids);
      wordStart = at + 1;
    }
    cut(symbols, wordStart, end, ids);
  };
}
