import { utf16Length } from "../../../../artifact/utf16-length.ts";
import { type CodePointTable, numberOf } from "../code-points.ts";
import type { WordPattern } from "../packed-settings.ts";
import { IS_LETTER, IS_NUMBER, IS_SPACE, KIND_MASK } from "./code-point-flags.ts";

/** Returns the end of the word that begins at `at`. The table of the packed file, and not the runtime, defines \p{L}, \p{N} and \s. */
export type WordEnd = (text: string, at: number) => number;

const BLANK = " ";
const CONTRACTION = /'(?:s|t|re|ve|m|ll|d)/y;
const CONTRACTION_OF_ANY_CASE = /'(?:s|t|re|ve|m|ll|d)/iuy;
const LINE_END = /[\r\n]/;

/** Creates the function that finds the words of a pattern. */
export function createWordEnd(classes: CodePointTable, pattern: WordPattern | undefined): WordEnd {
  const kindAt = (text: string, at: number) =>
    at < text.length ? numberOf(classes, text.codePointAt(at) as number) & KIND_MASK : undefined;
  const after = (text: string, at: number) => at + utf16Length(text.codePointAt(at) as number);

  /** Returns the end of a run of at most `most` characters of one kind. */
  function runEnd(text: string, at: number, kind: number | undefined, most = Number.POSITIVE_INFINITY): number {
    let end = at;
    for (let count = 0; count < most && end < text.length && kindAt(text, end) === kind; count++)
      end = after(text, end);
    return end;
  }

  /**
   * Returns the end of a run of white space. If text follows, the run ends one character earlier, as in \s+(?!\S). Each white space
   * character is one UTF-16 code unit.
   */
  function spaceEnd(text: string, at: number): number {
    const end = runEnd(text, at, IS_SPACE);
    return end < text.length && end - at > 1 ? end - 1 : end;
  }

  function contractionEnd(text: string, at: number, contraction: RegExp): number | undefined {
    if (text.charAt(at) !== "'") return undefined;
    contraction.lastIndex = at;
    return contraction.test(text) ? contraction.lastIndex : undefined;
  }

  /**
   * Finds the matches of GPT-2's pattern:
   *
   *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
   */
  function ofGpt2(text: string, at: number): number {
    const contraction = contractionEnd(text, at, CONTRACTION);
    if (contraction !== undefined) return contraction;
    const blank = text.charAt(at) === BLANK && at + 1 < text.length && kindAt(text, at + 1) !== IS_SPACE;
    const first = blank ? at + 1 : at;
    const kind = kindAt(text, first);
    return kind === IS_SPACE ? spaceEnd(text, at) : runEnd(text, first, kind);
  }

  /**
   * Finds the matches of the pattern of Llama 3 and Qwen. A number has at most `longestNumber` digits, here 3 as in Llama 3:
   *
   *     (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
   */
  function ofLlama(text: string, at: number, { contracts, longestNumber }: WordPattern): number {
    const contraction = contracts ? contractionEnd(text, at, CONTRACTION_OF_ANY_CASE) : undefined;
    if (contraction !== undefined) return contraction;
    const kind = kindAt(text, at);
    if (kind === IS_LETTER) return runEnd(text, at, IS_LETTER);
    if (kind === IS_NUMBER) return runEnd(text, at, IS_NUMBER, longestNumber);
    const next = after(text, at);
    if (kindAt(text, next) === IS_LETTER && !LINE_END.test(text.charAt(at))) return runEnd(text, next, IS_LETTER);
    const first = text.charAt(at) === BLANK && kindAt(text, next) === 0 ? next : at;
    if (kindAt(text, first) === 0) {
      let end = runEnd(text, first, 0);
      while (LINE_END.test(text.charAt(end))) end++;
      return end;
    }
    const end = runEnd(text, at, IS_SPACE);
    for (let last = end - 1; last >= at; last--) if (LINE_END.test(text.charAt(last))) return last + 1;
    return spaceEnd(text, at);
  }

  return pattern ? (text, at) => ofLlama(text, at, pattern) : ofGpt2;
}
