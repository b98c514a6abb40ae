import { type CharacterTable, HANGUL_RESULT } from "../../../../runtime/tokenizer/packed/word-piece/characters.ts";
import { codePointPages, numberOfKey, pagesWith } from "../code-point-pages.ts";
import { isPlainInWords, isPlainPage } from "../plain-pages.ts";
import { type CharacterOptions, createNormalizer } from "./normalize-character.ts";

const REPLACEMENT = "\ufffd";

/**
 * Builds the table of `runtime/tokenizer/packed/word-piece/characters.ts`.
 *
 * @param codes code of each character in the vocabulary
 */
export function characterTable(codes: ReadonlyMap<string, number>, options: CharacterOptions): CharacterTable {
  const normalize = createNormalizer(options);
  const decomposesHangul = options.decomposes;
  const symbols: number[] = [];
  const resultStart = [0];
  const results = new Map<string, number>([["Hangul", HANGUL_RESULT]]);
  const resultOf = (point: number): number => {
    if (decomposesHangul && isHangulSyllable(point)) return HANGUL_RESULT;
    const character = isSurrogate(point) ? REPLACEMENT : String.fromCodePoint(point);
    const result = normalize(character).map(([each, bits]) => ((codes.get(each) ?? 0) | bits) >>> 0);
    return numberOfKey(results, result.join(), () => {
      resultStart.push(symbols.length);
      symbols.push(...result);
    });
  };

  const coded = pagesWith(Array.from(codes.keys(), (character) => character.codePointAt(0) as number));
  const isUniform = options.marksWords || options.breaksInPlainPages ? isPlainInWords : isPlainPage;
  const points = codePointPages(resultOf, (first) => !coded.has(first) && isUniform(first));
  resultStart.push(symbols.length);
  return {
    ...points,
    resultStart: Uint32Array.from(resultStart),
    symbols: Uint32Array.from(symbols),
  };
}

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const isHangulSyllable = (point: number): boolean => point >= 0xac00 && point <= 0xd7a3;
