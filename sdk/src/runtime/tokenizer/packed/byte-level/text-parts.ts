import { utf16Length } from "../../../../artifact/utf16-length.ts";
import type { TokenizerAlgorithm } from "../algorithm.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import { IS_ISOLATED, IS_SPACE, PART_MASK } from "./code-point-flags.ts";

/**
 * Lists the parts of a text in which words are found. Parts end between characters of different groups, and around isolated
 * characters. If `separates` is set, parts also end at white space, which then belongs to no part.
 */
function* textParts(
  classes: CodePointTable,
  text: string,
  { start, end, separates }: { readonly start: number; readonly end: number; readonly separates: boolean },
): Generator<readonly [start: number, end: number]> {
  let [from, previous] = [start, 0];
  for (let at = start; at < end; ) {
    const point = text.codePointAt(at) as number;
    const number = numberOf(classes, point);
    const isGap = separates && (number & IS_SPACE) !== 0;
    const ends = isGap || ((number | previous) & IS_ISOLATED) !== 0 || ((number ^ previous) & PART_MASK) !== 0;
    if (ends && at > from) yield [from, at];
    if (ends) from = at;
    at += utf16Length(point);
    if (isGap) from = at;
    previous = number;
  }
  if (end > from) yield [from, end];
}

type AddIds = TokenizerAlgorithm<string>["addIds"];

/** Returns a function that adds the ids of each part of a text. Without `parts`, a text is one part. */
export function idsInParts(
  classes: CodePointTable,
  parts: { readonly separates: boolean } | undefined,
  addPart: AddIds,
): AddIds {
  if (!parts) return addPart;
  return (text, start, end, ids, enough, places) => {
    for (const [from, to] of textParts(classes, text, { start, end, ...parts })) {
      if (ids.length > enough) return;
      addPart(text, from, to, ids, enough, places);
    }
  };
}
