import { IS_ISOLATED, IS_SPACE, PART_SHIFT } from "../../../../runtime/tokenizer/packed/byte-level/code-point-flags.ts";
import { isWhiteSpace } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import type { CodePointTable } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { codePointPages } from "../code-point-pages.ts";
import { isPlainInWords, isPlainPage } from "../plain-pages.ts";
import { breakKinds, breaksInPlainPages, type WordBreaks } from "../word-breaks.ts";

/**
 * Returns a table with the bits that `textParts` reads.
 *
 * @param flagsOf returns further bits, which are the same for all code points of a plain page
 */
export function breakTable(breaks: WordBreaks, flagsOf: (point: number) => number): CodePointTable {
  if (breaks.length === 0) return codePointPages(flagsOf, isPlainPage);
  const kindOf = breakKinds(breaks);
  const bitsOf = (character: string): number => {
    const { isolated, group } = kindOf(character);
    return (isWhiteSpace(character) ? IS_SPACE : 0) | (isolated ? IS_ISOLATED : 0) | (group << PART_SHIFT);
  };
  return codePointPages(
    (point) => flagsOf(point) | bitsOf(String.fromCodePoint(point)),
    breaksInPlainPages(breaks) ? isPlainInWords : isPlainPage,
  );
}
