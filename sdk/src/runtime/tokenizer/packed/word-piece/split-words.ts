import { type Automaton, type AutomatonPosition, follow, longestToken, START } from "../automaton.ts";
import type { WordPieceSettings } from "../packed-settings.ts";
import { addPlace, dropPlaces, nextWord, type TokenPlaces } from "../token-places.ts";
import { type Character, type Characters, GROUP_MASK, ISOLATED, SPACE } from "./character.ts";

/** Appends the token ids of a part of a normalized text. */
export type WordSplitter = (
  characters: Characters,
  start: number,
  end: number,
  ids: number[],
  enough: number,
  places?: TokenPlaces,
) => void;

/**
 * Creates a function that splits a text into words, and each word into tokens. Words end at white space, around punctuation and
 * between groups of characters. Each word is split from left to right, and gets the longest possible token each time.
 */
export function createWordSplitter(
  { continuation, longestWord, unknown }: WordPieceSettings,
  automaton: Automaton,
): WordSplitter {
  /** Position of the automaton after the prefix "##"; undefined if no token begins with the prefix. */
  const inside = continuation.reduce<AutomatonPosition | undefined>(
    (position, code) => position && follow(automaton, position, code),
    START,
  );

  const addWordPlace = (places: TokenPlaces, start: number, end: number, continues: boolean) => {
    const word = continues ? (places.words.at(-1) as number) : nextWord(places);
    addPlace(places, [start, end], word, [0, 0], continues ? continuation.length : 0);
  };

  const splitWord = (characters: Characters, start: number, end: number, ids: number[], places?: TokenPlaces): void => {
    const before = ids.length;
    let position: AutomatonPosition | undefined = START;
    for (let at = start; at < end; ) {
      const isShort = end - start <= longestWord;
      const token = isShort && position ? longestToken(automaton, position, characters, at, end) : undefined;
      if (!token) {
        ids.length = before;
        ids.push(unknown);
        if (places) {
          dropPlaces(places, places.words.length - before);
          addPlace(places, [start, end], nextWord(places));
        }
        return;
      }
      ids.push(token.id);
      if (places) addWordPlace(places, at, token.end, at > start);
      at = token.end;
      position = inside;
    }
  };

  return (characters, start, end, ids, enough, places) => {
    let wordStart = start;
    for (let at = start; at < end; at++) {
      if (ids.length > enough) return;
      const character = characters[at] as Character;
      const breaks = at > wordStart && ((character ^ (characters[at - 1] as Character)) & GROUP_MASK) !== 0;
      if (!breaks && (character & (SPACE | ISOLATED)) === 0) continue;
      splitWord(characters, wordStart, at, ids, places);
      wordStart = at;
      if ((character & (SPACE | ISOLATED)) === 0) continue;
      if ((character & ISOLATED) !== 0) splitWord(characters, at, at + 1, ids, places);
      wordStart = at + 1;
    }
    splitWord(characters, wordStart, end, ids, places);
  };
}
