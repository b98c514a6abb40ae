import { utf8Length } from "../../../../artifact/utf8-length.ts";
import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { indexOfSorted } from "../automaton.ts";
import { CODE_POINTS, type CodePointTable, damagedTable, numberOf, openCodePoints, PAGE_BITS } from "../code-points.ts";
import type { IntegerArray, TokenizerArrays } from "../packed-arrays.ts";
import { createTextBuilder } from "../text-builder.ts";
import type { OnReplaced } from "./follow-replacements.ts";
import { CLASS_BITS, CLASS_MASK, graphemeClasses } from "./grapheme-classes.ts";
import { continues, stateAfter } from "./graphemes.ts";

/**
 * Replacements for single code points, and for graphemes that begin with certain pairs of code points. A grapheme is
 * what readers see as one character.
 */
export interface Charsmap {
  /**
   * Number of each code point. The lowest CLASS_BITS bits hold its grapheme class. The higher bits hold the index of
   * its replacement in `results`.
   */
  readonly points: CodePointTable;
  /**
   * [pairs]: the first two code points of a grapheme in one number, with 16 bits for each; ascending. The first code
   * point of a pair has no replacement of its own.
   */
  readonly pairs: IntegerArray;
  /** [pairs]: index in `results` of each pair's replacement. */
  readonly pairResults: IntegerArray;
  /** Replacement texts; index 0 means no replacement. */
  readonly results: readonly string[];
}

/** The arrays that normalizers read. */
export type NormalizerArrays = Pick<
  TokenizerArrays<"unigram">,
  "pageOf" | "pages" | "pairs" | "pairResults" | "results"
>;

export const NO_RESULT = 0;
/** Separates replacement texts in the file. */
export const SEPARATOR = "\0";
/**
 * Graphemes of at most this many UTF-8 bytes are replaced as a whole. Longer ones are replaced code point by code
 * point.
 */
const LONGEST = 5;

/** Number of entries that `pageOf` has for each table. */
const TABLE_PAGES = CODE_POINTS >> PAGE_BITS;

/**
 * Opens the table with this index. The tables of a tokenizer lie one after the other in `pageOf`, and share `pages`.
 *
 * @throws BertEdgeError `tokenizer_invalid` if there is none
 */
export const openTable = (
  { pageOf, pages }: Pick<NormalizerArrays, "pageOf" | "pages">,
  index: number,
): CodePointTable => openCodePoints({ pageOf: pageOf.subarray(index * TABLE_PAGES, (index + 1) * TABLE_PAGES), pages });

/**
 * Opens the charsmaps of a packed tokenizer. They share all arrays. A charsmap whose table has no grapheme classes replaces code
 * points one by one, and never uses `pairs`.
 *
 * @returns a function that returns the charsmap with the table of this index
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openCharsmaps(arrays: NormalizerArrays): (index: number) => Charsmap {
  const { pairs, pairResults } = arrays;
  if (pairs.length !== pairResults.length) throw damagedTable();
  const results = new TextDecoder("utf-8", { ignoreBOM: true }).decode(arrays.results).split(SEPARATOR);
  return (index) => ({ points: openTable(arrays, index), pairs, pairResults, results });
}

/**
 * Replaces graphemes. If a grapheme is short, and its first one or two code points have a replacement, this replaces
 * the whole grapheme, including all later code points. Any other grapheme is replaced code point by code point. The
 * rules are from https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/precompiled.rs.
 *
 * @param text text without lone surrogates
 * @throws BertEdgeError `tokenizer_invalid` if a result is missing
 */
export function applyCharsmap(
  { points, pairs, pairResults, results }: Charsmap,
  text: string,
  onReplaced?: OnReplaced,
): string {
  const replaced = createTextBuilder();
  let copied = 0;
  const replace = (start: number, end: number, result: number): void => {
    const content = results[result];
    if (content === undefined) throw damagedTable();
    onReplaced?.(start, end, content);
    if (copied < start) replaced.add(text.slice(copied, start));
    replaced.add(content);
    copied = end;
  };

  for (let start = 0; start < text.length; ) {
    const first = text.codePointAt(start) as number;
    const number = numberOf(points, first);
    const second = start + utf16Length(first);
    let end = second;
    let bytes = utf8Length(first);
    for (let state = stateAfter(graphemeClasses.OTHER, number & CLASS_MASK); end < text.length; ) {
      const point = text.codePointAt(end) as number;
      const kind = numberOf(points, point) & CLASS_MASK;
      if (!continues(state, kind)) break;
      state = stateAfter(state, kind);
      bytes += utf8Length(point);
      end += utf16Length(point);
    }

    let result = number >> CLASS_BITS;
    if (result === NO_RESULT && end > second && bytes <= LONGEST) {
      result =
        pairResults[indexOfSorted(pairs, first * 2 ** 16 + text.charCodeAt(second), 0, pairs.length - 1)] ?? NO_RESULT;
    }
    if (end === second || (bytes <= LONGEST && result !== NO_RESULT)) {
      if (result !== NO_RESULT) replace(start, end, result);
    } else {
      for (let at = start; at < end; ) {
        const point = text.codePointAt(at) as number;
        const next = at + utf16Length(point);
        const own = numberOf(points, point) >> CLASS_BITS;
        if (own !== NO_RESULT) replace(at, next, own);
        at = next;
      }
    }
    start = end;
  }
  if (copied === 0) return text;
  replaced.add(text.slice(copied));
  return replaced.end();
}
