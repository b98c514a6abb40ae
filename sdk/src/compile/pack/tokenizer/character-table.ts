import { SPACE, WORD } from "../../../runtime/tokenizer/packed/character.ts";
import { type Characters, HANGUL_RESULT } from "../../../runtime/tokenizer/packed/characters.ts";
import type { Normalizer } from "./bert-tokenizer.ts";
import { codePointPages, isEmpty } from "./code-point-pages.ts";
import { bitsOfUnchanged, isSpaced, normalizedCharacter, stripsAccents } from "./normalized-character.ts";
import { once } from "./once.ts";

const REPLACEMENT = 0xfffd;

/**
 * The table of `runtime/tokenizer/packed/characters.ts`.
 *
 * @param codes of the vocabulary's characters
 * @param marksWords whether symbols say which characters are a word's: it makes the table larger
 */
export function characterTable(
  normalizer: Normalizer,
  codes: ReadonlyMap<string, number>,
  marksWords: boolean,
): Characters {
  const kept = marksWords ? -1 : ~WORD;
  const symbols: number[] = [];
  const resultStart = [0];
  const results = new Map<string, number>([["Hangul", HANGUL_RESULT]]);
  const symbolOf = (character: string, bits: number) => ((codes.get(character) ?? 0) | (bits & kept)) >>> 0;
  const spacing = symbolOf(" ", SPACE);
  const symbolsOf = (point: number): number[] => {
    const character = String.fromCodePoint(point);
    const bits = bitsOfUnchanged(point);
    if (bits === undefined) return normalizedCharacter(normalizer, character).map((each) => symbolOf(...each));
    const symbol = symbolOf(character, bits);
    return isSpaced(normalizer, point) ? [spacing, symbol, spacing] : [symbol];
  };
  const resultOf = (point: number): number => {
    if (isSyllable(point) && stripsAccents(normalizer)) return HANGUL_RESULT;
    const result = symbolsOf(isSurrogate(point) ? REPLACEMENT : point);
    return once(results, result.join(), () => {
      resultStart.push(symbols.length);
      symbols.push(...result);
    });
  };

  const copies = ![...codes.keys()].some((character) => isEmpty(character.codePointAt(0) as number));
  const points = codePointPages(resultOf, copies);
  resultStart.push(symbols.length);
  return {
    ...points,
    resultStart: Uint32Array.from(resultStart),
    symbols: Uint32Array.from(symbols),
  };
}

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const isSyllable = (point: number): boolean => point >= 0xac00 && point <= 0xd7a3;
