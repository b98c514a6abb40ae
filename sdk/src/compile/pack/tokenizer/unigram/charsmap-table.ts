import { type Charsmap, NO_RESULT, SEPARATOR } from "../../../../runtime/tokenizer/packed/unigram/charsmap.ts";
import { CLASS_BITS, graphemeClasses } from "../../../../runtime/tokenizer/packed/unigram/grapheme-classes.ts";
import { setOf } from "../code-point-classes.ts";
import { codePointPages, isEmpty } from "../code-point-pages.ts";
import { once } from "../once.ts";
import type { CharsmapFile } from "./read-charsmap.ts";
import { graphemes } from "./rust-graphemes.ts";

const classes: ReadonlyMap<number, number> = new Map(
  Object.entries(graphemes).flatMap(([name, ranges]) =>
    Array.from(setOf(ranges), (point) => [point, graphemeClasses[name as keyof typeof graphemes]] as const),
  ),
);

/** The charsmap of `runtime/tokenizer/packed/unigram/charsmap.ts`. */
export function charsmapTable(file: CharsmapFile): Charsmap {
  const results = [""];
  const known = new Map([["no result", NO_RESULT]]);
  const single = new Map<number, number>();
  const pairs: { readonly pair: number; readonly result: number }[] = [];
  for (const [key, content] of file) {
    const result = once(known, `=${content}`, () => results.push(content));
    const [first, second] = Array.from(key, (character) => character.codePointAt(0)) as [number, number?];
    if (second === undefined) single.set(first, result);
    else pairs.push({ pair: first * 2 ** 16 + second, result });
  }
  pairs.sort((a, b) => a.pair - b.pair);
  const points = codePointPages(
    (point) => ((single.get(point) ?? NO_RESULT) << CLASS_BITS) | (classes.get(point) ?? graphemeClasses.OTHER),
    ![...single.keys()].some(isEmpty),
  );
  return {
    points,
    pairs: Uint32Array.from(pairs, ({ pair }) => pair),
    pairResults: Uint32Array.from(pairs, ({ result }) => result),
    results,
  };
}

/** Results as the file has them. */
export const joined = (results: readonly string[]): Uint8Array => new TextEncoder().encode(results.join(SEPARATOR));
