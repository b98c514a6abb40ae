import { type Charsmap, NO_RESULT, SEPARATOR } from "../../../../runtime/tokenizer/packed/unigram/charsmap.ts";
import { CLASS_BITS, graphemeClasses } from "../../../../runtime/tokenizer/packed/unigram/grapheme-classes.ts";
import { codePointNumbers, pagesWithBorders } from "../code-point-classes.ts";
import { codePointPages, numberOfKey, pagesWith } from "../code-point-pages.ts";
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

/** Builds the arrays of `runtime/tokenizer/packed/unigram/charsmap.ts`. */
export function charsmapTable(entries: CharsmapEntries): Charsmap {
  const results = [""];
  const known = new Map([["no result", NO_RESULT]]);
  const single = new Map<number, number>();
  const pairs: { readonly pair: number; readonly result: number }[] = [];
  for (const [key, content] of entries) {
    const result = numberOfKey(known, `=${content}`, () => results.push(content));
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
    results,
  };
}

/** Encodes the replacements of a charsmap for the packed file. */
export const joinResults = (results: readonly string[]): Uint8Array =>
  new TextEncoder().encode(results.join(SEPARATOR));
