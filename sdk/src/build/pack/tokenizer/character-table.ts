import { WORD } from "../../../runtime/tokenizer/packed/character.ts";
import {
  type Characters,
  CODE_POINTS,
  HANGUL_RESULT,
  PAGE_BITS,
} from "../../../runtime/tokenizer/packed/characters.ts";
import type { Normalizer } from "./bert-tokenizer.ts";
import { normalisedCharacter, stripsAccents } from "./normalised-character.ts";

const PAGE = 1 << PAGE_BITS;
const REPLACEMENT = "\ufffd";
/** Planes 4 to 13, in which there is no character. */
const EMPTY = { first: 0x40000, end: 0xe0000 } as const;

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
  const resultOf = (point: number): number => {
    if (isSyllable(point) && stripsAccents(normalizer)) return HANGUL_RESULT;
    const character = isSurrogate(point) ? REPLACEMENT : String.fromCodePoint(point);
    const result = normalisedCharacter(normalizer, character).map(
      ([each, bits]) => ((codes.get(each) ?? 0) | (bits & kept)) >>> 0,
    );
    return once(results, result.join(), () => {
      resultStart.push(symbols.length);
      symbols.push(...result);
    });
  };

  const pages: number[] = [];
  const pageOf: number[] = [];
  const known = new Map<string, number>();
  const isEmpty = (point: number) => point > EMPTY.first && point < EMPTY.end;
  const copies = ![...codes.keys()].some((character) => isEmpty(character.codePointAt(0) as number));
  for (let first = 0; first < CODE_POINTS; first += PAGE) {
    if (copies && isEmpty(first)) {
      pageOf.push(pageOf.at(-1) as number);
      continue;
    }
    const page = Array.from({ length: PAGE }, (_, i) => resultOf(first + i));
    pageOf.push(once(known, page.join(), () => pages.push(...page)));
  }
  resultStart.push(symbols.length);
  return {
    pageOf: Uint32Array.from(pageOf),
    pages: Uint32Array.from(pages),
    resultStart: Uint32Array.from(resultStart),
    symbols: Uint32Array.from(symbols),
  };
}

const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const isSyllable = (point: number): boolean => point >= 0xac00 && point <= 0xd7a3;

/** The number that a key got when it first came, in the order in which keys come. */
function once(known: Map<string, number>, key: string, onNew: () => void): number {
  const number = known.get(key);
  if (number !== undefined) return number;
  onNew();
  known.set(key, known.size);
  return known.size - 1;
}
