import type { VocabularyText } from "../../vocabulary-text.ts";
import type { Automaton } from "../automaton.ts";
import { automatonTokens } from "../automaton-tokens.ts";
import { cleanUp } from "../clean-up.ts";
import type { WordPieceSettings } from "../packed-settings.ts";
import { vocabularyText } from "../vocabulary-text.ts";

/** Makes the texts of WordPiece's tokens. */
export function wordPieceText(settings: WordPieceSettings, automaton: Automaton): VocabularyText {
  const { addedCode, cleansUp } = settings;
  const characters = Array.from(settings.characters);
  const textOf = (codes: readonly number[]) => codes.map((code) => characters[code - 1] ?? "").join("");
  const prefix = textOf(settings.continuation);

  /**
   * Returns the text of a token with the blank before it. Cleans up each token alone, as `cleanup` does in
   * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/decoders/wordpiece.rs
   */
  function partOf(spelling: string, index: number): string {
    const isContinued = index > 0 && prefix !== "" && spelling.startsWith(prefix);
    const part = isContinued ? spelling.slice(prefix.length) : index > 0 ? ` ${spelling}` : spelling;
    return cleansUp ? cleanUp(part).replaceAll(" do not", " don't") : part;
  }

  return vocabularyText({
    settings,
    spellings() {
      const spellings = new Map<number, string>();
      for (const { id, codes } of automatonTokens(automaton)) {
        if (codes[0] !== addedCode) spellings.set(id, textOf(codes));
      }
      return spellings;
    },
    join: (spellings) => spellings.map(partOf).join(""),
  });
}
