import { type Automaton, follow, longestWord, openAutomaton, START } from "./automaton.ts";
import { type Character, SPACE, WORD } from "./character.ts";
import { normalize, openCharacters } from "./characters.ts";
import type { Finder } from "./find-added.ts";
import type { Kind } from "./kind.ts";
import { checkIds, type PackedFile } from "./packed-file.ts";
import type { WordPieceHeader } from "./packed-header.ts";
import type { Text } from "./split-added.ts";
import { createWordPieces } from "./word-pieces.ts";

/**
 * BERT's kind: characters cleaned one by one, words cut into the longest tokens.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createWordPiece(
  { header, sections }: PackedFile<WordPieceHeader>,
  vocabulary: number,
): Kind<readonly Character[]> {
  checkIds([header.unknown], vocabulary);
  const characters = openCharacters(sections);
  const automaton = openAutomaton(sections, vocabulary);
  return {
    longestWord: header.longestWord,
    normalize: (text) => normalize(characters, text),
    textOf,
    findAdded: wordFinder(header, automaton),
    addIds: createWordPieces(header, automaton),
  };
}

function textOf(symbols: readonly Character[]): Text {
  const has = (at: number, flag: number) => ((symbols[at] ?? 0) & flag) !== 0;
  return {
    length: symbols.length,
    isSpace: (at) => has(at, SPACE),
    isWordAt: (at) => has(at, WORD),
    isWordBefore: (at) => has(at - 1, WORD),
  };
}

/** Finds the added tokens that the automaton has. */
function wordFinder({ added, addedCode }: WordPieceHeader, automaton: Automaton): Finder<readonly Character[]> {
  const first = follow(automaton, START, addedCode);
  if (!first) return undefined;
  const tokens = new Map(added.map((token) => [token.id, token]));
  return function* (symbols) {
    for (let at = 0; at < symbols.length; ) {
      const match = longestWord(automaton, first, symbols, at, symbols.length);
      const token = match && tokens.get(match.id);
      if (token) yield { token, start: at, end: match.end };
      at = match?.end ?? at + 1;
    }
  };
}
