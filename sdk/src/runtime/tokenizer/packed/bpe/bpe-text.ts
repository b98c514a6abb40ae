import type { VocabularyText } from "../../vocabulary-text.ts";
import { mergedSpellings } from "../byte-level/byte-level-text.ts";
import type { Merges } from "../byte-level/merges.ts";
import { bytePiece, withBytes } from "../byte-pieces.ts";
import { codePointsByNumber } from "../code-points.ts";
import type { BpeSettings } from "../packed-settings.ts";
import { vocabularyText } from "../vocabulary-text.ts";
import type { CharacterTokens } from "./character-units.ts";

/** Makes the texts of tokens, in which ▁ stands for a blank. */
export function bpeText(
  settings: BpeSettings,
  { characters, byteIds }: CharacterTokens,
  merges: Merges,
): VocabularyText {
  const { drops, decodesBytes, whole } = settings;
  const partOf = (spelling: string, index: number): string =>
    spelling.replaceAll("▁", index === 0 && drops === "first-token" ? "" : " ");

  return vocabularyText({
    settings,
    spellings() {
      const firsts = new Map(Array.from(byteIds, (id, byte) => [id, bytePiece(byte)]));
      for (const [number, point] of codePointsByNumber(characters)) firsts.set(number - 1, String.fromCodePoint(point));
      return new Map([...mergedSpellings(merges, firsts), ...whole.map(([text, id]) => [id, text] as const)]);
    },
    join(spellings) {
      const text = (decodesBytes ? withBytes(spellings) : spellings).map(partOf).join("");
      return drops === "first" && text.startsWith(" ") ? text.slice(1) : text;
    },
  });
}
