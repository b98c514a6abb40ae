import * as v from "valibot";
import { IS_ISOLATED, IS_SPACE, PART_SHIFT } from "../../../runtime/tokenizer/packed/byte-level/code-point-flags.ts";
import { isWhiteSpace, isWordCharacter } from "../../../runtime/tokenizer/packed/character-classes.ts";
import type { CodePointTable } from "../../../runtime/tokenizer/packed/code-points.ts";
import { classes, isNumeric, isPlainInWords, isPlainPage } from "./code-point-classes.ts";
import { codePointPages } from "./code-point-pages.ts";

export const Break = v.variant("type", [
  v.object({ type: v.picklist(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"]) }),
  v.object({ type: v.literal("Digits"), individual_digits: v.optional(v.boolean(), false) }),
  v.object({
    type: v.literal("Punctuation"),
    behavior: v.optional(v.picklist(["Isolated", "Contiguous"]), "Isolated"),
  }),
]);
type Break = v.InferOutput<typeof Break>;

/** Schema of pre-tokenizers that decide from two neighbouring characters whether to break between them. */
export const WordBreaks = v.pipe(
  v.union([Break, v.object({ type: v.literal("Sequence"), pretokenizers: v.array(Break) })]),
  v.transform((given) => (given.type === "Sequence" ? given.pretokenizers : [given])),
);
export type WordBreaks = v.InferOutput<typeof WordBreaks>;

/** Effect of a character on the breaks between words. */
export interface BreakKind {
  /** Whether the character belongs to no word. */
  readonly separates: boolean;
  /** Whether the character is a word of its own. */
  readonly isolated: boolean;
  /** Number from 0 to 7. Neighbours with different numbers have a break between them. */
  readonly group: number;
}

const separators: ReadonlySet<Break["type"]> = new Set(["BertPreTokenizer", "Whitespace", "WhitespaceSplit"]);

/** Whether white space belongs to no word. */
export const separatesAtSpaces = (breaks: WordBreaks): boolean => breaks.some(({ type }) => separators.has(type));

/** Whether characters of one plain page can break differently, because `isPlainPage` ignores word characters and the newest numbers. */
export const breaksInPlainPages = (breaks: WordBreaks): boolean =>
  breaks.some(({ type }) => type === "Whitespace" || type === "Digits");

/** Returns a function that gives the effect of a character on breaks if all of these pre-tokenizers run. */
export function breakKinds(breaks: WordBreaks): (character: string) => BreakKind {
  const has = (test: (each: Break) => boolean): boolean => breaks.some(test);
  const separatesSpaces = separatesAtSpaces(breaks);
  const isolatesPunctuation = has(
    (each) => each.type === "BertPreTokenizer" || (each.type === "Punctuation" && each.behavior === "Isolated"),
  );
  const groupsPunctuation = has((each) => each.type === "Punctuation" && each.behavior === "Contiguous");
  const isolatesNumbers = has((each) => each.type === "Digits" && each.individual_digits);
  const groupsNumbers = has((each) => each.type === "Digits" && !each.individual_digits);
  const groupsWords = has(({ type }) => type === "Whitespace");

  return (character) => {
    const point = character.codePointAt(0) as number;
    const isPunctuation = classes.punctuation.has(point);
    const isNumber = (isolatesNumbers || groupsNumbers) && isNumeric(point);
    return {
      separates: separatesSpaces && isWhiteSpace(character),
      isolated: (isolatesPunctuation && isPunctuation) || (isolatesNumbers && isNumber),
      group:
        (groupsWords && isWordCharacter(character) ? 1 : 0) |
        (groupsNumbers && isNumber ? 2 : 0) |
        (groupsPunctuation && isPunctuation ? 4 : 0),
    };
  };
}

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
