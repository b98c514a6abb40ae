import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import { IS_SPACE, KIND_MASK } from "./code-point-flags.ts";

const BLANK = " ";
const CONTRACTION = /'(?:s|t|re|ve|m|ll|d)/y;

/**
 * Returns the end of the word that begins at `at`. The table of the packed file, and not the runtime, defines \p{L},
 * \p{N} and \s. Words are the matches of GPT-2's pattern:
 *
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 */
export function wordEnd(classes: CodePointTable, text: string, at: number): number {
  if (text.charAt(at) === "'") {
    CONTRACTION.lastIndex = at;
    if (CONTRACTION.test(text)) return CONTRACTION.lastIndex;
  }
  const kindAt = (place: number) => numberOf(classes, text.codePointAt(place) as number) & KIND_MASK;
  const blank = text.charAt(at) === BLANK && at + 1 < text.length && kindAt(at + 1) !== IS_SPACE;
  const first = blank ? at + 1 : at;
  const kind = kindAt(first);
  let end = first;
  while (end < text.length && kindAt(end) === kind) end += utf16Length(text.codePointAt(end) as number);
  // If text follows a run of white space, the run ends one character earlier, as in \s+(?!\S). Each white space
  // character is one UTF-16 code unit.
  return kind === IS_SPACE && end < text.length && end - at > 1 ? end - 1 : end;
}
