import type { CodePointTable } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { type Charsmap, NO_RESULT } from "../../../../runtime/tokenizer/packed/normalizers/charsmap.ts";
import { CLASS_BITS, graphemeClasses } from "../../../../runtime/tokenizer/packed/normalizers/grapheme-classes.ts";
import { codePointNumbers, pagesWithBorders } from "../code-point-classes.ts";
import { codePointPages, numberOfKey, pagesWith, pageText } from "../code-point-pages.ts";
import type { CharacterMap } from "./character-maps.ts";
import type { CharsmapEntries } from "./read-charsmap.ts";
import graphemes from "./rust-graphemes.json" with { type: "json" };

/** Grapheme class of each code point; 0 is `OTHER`. */
const classOf = codePointNumbers(
  Object.entries(graphemes.classes).map(([name, ranges]) => [
    graphemeClasses[name as keyof typeof graphemes.classes],
    ranges,
  ]),
);

/** First code points of the pages whose characters have several grapheme classes. */
const mixedPages = pagesWithBorders(Object.values(graphemes.classes));

/** The replacements of all tables of a tokenizer. */
export interface Results {
  readonly texts: readonly string[];
  /** Returns the index of a text. */
  indexOf(text: string): number;
}

export function createResults(): Results {
  const texts = [""];
  const known = new Map([["no result", NO_RESULT]]);
  return { texts, indexOf: (text) => numberOfKey(known, `=${text}`, () => texts.push(text)) };
}

/** Builds the table and the pairs of `Charsmap`. */
export function charsmapTable(
  entries: CharsmapEntries,
  results: Results,
): Pick<Charsmap, "points" | "pairs" | "pairResults"> {
  const single = new Map<number, number>();
  const pairs: { readonly pair: number; readonly result: number }[] = [];
  for (const [key, content] of entries) {
    const result = results.indexOf(content);
    const [first, second] = Array.from(key, (character) => character.codePointAt(0)) as [number, number?];
    if (second === undefined) single.set(first, result);
    else pairs.push({ pair: first * 2 ** 16 + second, result });
  }
  pairs.sort((a, b) => a.pair - b.pair);
  const mapped = pagesWith(single.keys());
  const points = codePointPages(
    (point) => ((single.get(point) ?? NO_RESULT) << CLASS_BITS) | (classOf[point] as number),
    (first) => !mixedPages.has(first) && !mapped.has(first),
  );
  return {
    points,
    pairs: Uint32Array.from(pairs, ({ pair }) => pair),
    pairResults: Uint32Array.from(pairs, ({ result }) => result),
  };
}

/** Builds the table of a charsmap that replaces each character by itself. */
export function eachTable(map: CharacterMap, results: Results): CodePointTable {
  const mapped = (point: number): number => {
    const character = String.fromCodePoint(point);
    const content = map(character);
    return (content === character ? NO_RESULT : results.indexOf(content)) << CLASS_BITS;
  };
  const isKept = (first: number): boolean => {
    for (const character of pageText(first)) if (map(character) !== character) return false;
    return true;
  };
  return codePointPages(mapped, isKept);
}
