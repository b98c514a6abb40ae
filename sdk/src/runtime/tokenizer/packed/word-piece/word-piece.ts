import type { AddedTokenFinder, SplittableText } from "../added-tokens.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { type Automaton, follow, longestToken, openAutomaton, START } from "../automaton.ts";
import { checkIds, type PackedFile } from "../packed-file.ts";
import type { WordPieceSettings } from "../packed-settings.ts";
import { type Characters, SPACE, WORD } from "./character.ts";
import { normalize, openCharacters } from "./characters.ts";
import { createWordSplitter } from "./split-words.ts";
import { wordPieceText } from "./word-piece-text.ts";

/**
 * Creates WordPiece, BERT's algorithm: normalizes character by character, and splits words into the longest tokens.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function createWordPiece(
  { settings, arrays }: PackedFile<WordPieceSettings>,
  vocabularySize: number,
): TokenizerAlgorithm<Characters> {
  checkIds([settings.unknown], vocabularySize);
  const characters = openCharacters(arrays);
  const automaton = openAutomaton(arrays, vocabularySize);
  return {
    longestWord: settings.longestWord,
    splitsAtBlanks: true,
    normalize: (text, origins) => normalize(characters, text, origins),
    textOf: charactersText,
    findAdded: automatonFinder(settings, automaton),
    addIds: createWordSplitter(settings, automaton),
    vocabulary: wordPieceText(settings, automaton),
  };
}

function charactersText(characters: Characters): SplittableText {
  const has = (at: number, flag: number) => ((characters[at] ?? 0) & flag) !== 0;
  return {
    length: characters.length,
    isSpace: (at) => has(at, SPACE),
    isWordAt: (at) => has(at, WORD),
    isWordBefore: (at) => has(at - 1, WORD),
  };
}

/**
 * Creates a finder that searches for the automaton's added tokens. Their paths begin with `addedCode`. Returns
 * undefined if the automaton has no added tokens.
 */
function automatonFinder(
  { added, addedCode }: WordPieceSettings,
  automaton: Automaton,
): AddedTokenFinder<Characters> | undefined {
  const first = follow(automaton, START, addedCode);
  if (!first) return undefined;
  const tokens = new Map(added.map((token) => [token.id, token]));
  return function* (characters) {
    for (let at = 0; at < characters.length; ) {
      const match = longestToken(automaton, first, characters, at, characters.length);
      const token = match && tokens.get(match.id);
      if (token) yield { token, start: at, end: match.end };
      at = match?.end ?? at + 1;
    }
  };
}
