import { utf16Length } from "../../artifact/utf16-length.ts";

/** First half of a pair of UTF-16 units that encodes one code point. */
const SURROGATE = /[\ud800-\udbff]/;

/** Returns a function that converts a UTF-16 index to the number of code points before it. It is fast for ascending indices. */
export function codePointsBefore(text: string): (index: number) => number {
  if (!SURROGATE.test(text)) return (index) => index;
  let [at, count] = [0, 0];
  return function before(index) {
    if (index < at) [at, count] = [0, 0];
    for (; at < index; count++) at += utf16Length(text.codePointAt(at) as number);
    return count;
  };
}

/** Converts the offsets of parts of a text from UTF-16 units to code points. */
export function inCodePoints<Part extends { readonly start: number; readonly end: number }>(
  text: string,
  parts: readonly Part[],
): Part[] {
  const position = codePointsBefore(text);
  return parts.map((part) => ({ ...part, start: position(part.start), end: position(part.end) }));
}
