import type { VocabularyText } from "../../vocabulary-text.ts";
import type { ByteLevelSettings } from "../packed-settings.ts";
import { vocabularyText } from "../vocabulary-text.ts";
import type { Merges } from "./merges.ts";

/** First code point of the characters that stand for bytes without a character of their own. */
const STAND_INS = 0x100;

/**
 * The character that stands for each byte in GPT-2's and RoBERTa's vocabularies: printable characters of Latin-1 stand for
 * themselves. https://github.com/openai/gpt-2/blob/master/src/encoder.py
 */
const byteCharacters: readonly string[] = (() => {
  let standIn = STAND_INS;
  return Array.from({ length: 256 }, (_, byte) => {
    const isPrintable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
    return String.fromCodePoint(isPrintable ? byte : standIn++);
  });
})();

const bytesOf: ReadonlyMap<string, number> = new Map(byteCharacters.map((character, byte) => [character, byte]));

/** Makes the texts of byte-level BPE's tokens. */
export function byteLevelText(settings: ByteLevelSettings, merges: Merges): VocabularyText {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  const spelled = (text: string): string => Array.from(encoder.encode(text), (byte) => byteCharacters[byte]).join("");

  /** Returns the bytes of a token. A token with characters that stand for no byte is an added token: its bytes are its own UTF-8. */
  function partOf(spelling: string): number[] {
    const bytes = Array.from(spelling, (character) => bytesOf.get(character));
    return bytes.every((byte) => byte !== undefined) ? bytes : [...encoder.encode(spelling)];
  }

  return vocabularyText({
    settings,
    spellings: () =>
      new Map([
        ...mergedSpellings(merges, firstSpellings(merges)),
        ...settings.whole.map(([text, id]) => [id, spelled(text)] as const),
      ]),
    join: (spellings) => decoder.decode(Uint8Array.from(spellings.flatMap(partOf))),
  });
}

const firstSpellings = ({ byteIds }: Merges): Map<number, string> =>
  new Map(Array.from(byteIds, (id, byte) => [id, byteCharacters[byte] as string]));

/** Returns `firsts` with the spellings of all merged tokens. Goes by rank: a token is merged from tokens of smaller ranks. */
export function mergedSpellings(
  { rightStart, rights, ranks, merged }: Merges,
  firsts: ReadonlyMap<number, string>,
): Map<number, string> {
  const spellings = new Map(firsts);
  const pairs: [left: number, right: number][] = [];
  for (let left = 0; left + 1 < rightStart.length; left++) {
    for (let at = rightStart[left] as number; at < (rightStart[left + 1] as number); at++) {
      pairs[ranks[at] as number] = [left, rights[at] as number];
    }
  }
  pairs.forEach(([left, right], rank) => {
    const parts = [spellings.get(left), spellings.get(right)];
    if (parts.every((part) => part !== undefined)) spellings.set(merged[rank] as number, parts.join(""));
  });
  return spellings;
}
