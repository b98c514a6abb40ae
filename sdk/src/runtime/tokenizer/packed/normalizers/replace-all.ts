import { utf16Length } from "../../../../artifact/utf16-length.ts";
import type { OnReplaced } from "./follow-replacements.ts";

/** Finds runs of two or more blanks. */
export const BLANKS = / {2,}/g;
/** Finds runs of two or more white-space characters, and each line end or tab: `\s{2,}|[\n\r\t]` in Rust. */
export const SPACES = /\p{White_Space}{2,}|[\n\r\t]/gu;

/** Returns the pattern that finds exactly this text. */
export const literally = (text: string): RegExp => new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "g");

/** Returns a function that replaces each match of a pattern. The origin of `content` is the last character of the match. */
export const replaceAll =
  (pattern: RegExp, content: string) =>
  (text: string, onReplaced?: OnReplaced): string =>
    text.replace(pattern, (found: string, at: number) => {
      const end = at + found.length;
      const last = end - (/[\udc00-\udfff]$/.test(found) ? 2 : 1);
      onReplaced?.(at, last, "");
      onReplaced?.(last, end, content);
      return content;
    });

/** Returns a function that puts `content` before a text that is not empty. `content` has the place of the text's first character. */
export const prepend =
  (content: string) =>
  (text: string, onReplaced?: OnReplaced): string => {
    const first = text.slice(0, utf16Length(text.codePointAt(0) ?? 0));
    if (text === "") return text;
    onReplaced?.(0, first.length, content + first);
    return content + text;
  };
