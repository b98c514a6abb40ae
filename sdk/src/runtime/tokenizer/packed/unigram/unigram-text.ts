import type { VocabularyText } from "../../vocabulary-text.ts";
import { automatonTokens } from "../automaton-tokens.ts";
import { withBytes } from "../byte-pieces.ts";
import { codePointsByNumber } from "../code-points.ts";
import type { UnigramSettings } from "../packed-settings.ts";
import { vocabularyText } from "../vocabulary-text.ts";
import type { UnigramVocabulary } from "./vocabulary.ts";

/** Makes the texts of Unigram's tokens, in which ▁ stands for a blank. */
export function unigramText(settings: UnigramSettings, vocabulary: UnigramVocabulary): VocabularyText {
  const { prefixSpace } = settings;
  const { automaton, codes, byteIds } = vocabulary;

  /** Returns the text of a token. The ▁ of the first token is removed if encoding puts a ▁ before texts. */
  const partOf = (spelling: string, index: number): string =>
    spelling.replaceAll("▁", index === 0 && prefixSpace ? "" : " ");

  return vocabularyText({
    settings,
    spellings() {
      const characters = codePointsByNumber(codes);
      const spellings = new Map<number, string>();
      for (const token of automatonTokens(automaton)) {
        spellings.set(token.id, String.fromCodePoint(...token.codes.map((code) => characters.get(code) ?? 0xfffd)));
      }
      return spellings;
    },
    join: (spellings) => (byteIds.length > 0 ? withBytes(spellings) : spellings).map(partOf).join(""),
  });
}
