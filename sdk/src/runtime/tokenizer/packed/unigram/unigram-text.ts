import type { VocabularyText } from "../../vocabulary-text.ts";
import { automatonTokens } from "../automaton-tokens.ts";
import { codePointsByNumber } from "../code-points.ts";
import type { UnigramSettings } from "../packed-settings.ts";
import { vocabularyText } from "../vocabulary-text.ts";
import type { UnigramVocabulary } from "./vocabulary.ts";

/** Spelling of the token of a byte, in vocabularies that have such tokens. */
const BYTE = /^<0x([0-9A-F]{2})>$/;

/** Makes the texts of Unigram's tokens, in which ▁ stands for a blank. */
export function unigramText(settings: UnigramSettings, vocabulary: UnigramVocabulary): VocabularyText {
  const { prefixSpace } = settings;
  const { automaton, codes, byteIds } = vocabulary;

  /** A blank that encoding has put before the text is removed. */
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

/** Turns neighbouring tokens of bytes into one text. Bytes that are not UTF-8 become U+FFFD each. */
function withBytes(spellings: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const endBytes = () => {
    if (bytes.length > 0) texts.push(textOfBytes(Uint8Array.from(bytes)));
    bytes = [];
  };
  for (const spelling of spellings) {
    const [, byte] = BYTE.exec(spelling) ?? [];
    if (byte !== undefined) bytes.push(Number.parseInt(byte, 16));
    else {
      endBytes();
      texts.push(spelling);
    }
  }
  endBytes();
  return texts;
}

function textOfBytes(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}
