import { utf16Length } from "../../artifact/utf16-length.ts";

/** Half of a pair of UTF-16 units that stand for one code point. */
const SURROGATE = /[\ud800-\udbff]/;

/** Returns a function that turns UTF-16 indices of a text into numbers of code points. It is fast if they ascend. */
export function codePointsBefore(text: string): (index: number) => number {
  if (!SURROGATE.test(text)) return (index) => index;
  let [at, count] = [0, 0];
  return function before(index) {
    if (index < at) [at, count] = [0, 0];
    for (; at < index; count++) at += utf16Length(text.codePointAt(at) as number);
    return count;
  };
}

/** Changes the places of parts of a text to numbers of code points. */
export function inCodePoints<Part extends { readonly start: number; readonly end: number }>(
  text: string,
  parts: readonly Part[],
): Part[] {
  const position = codePointsBefore(text);
  return parts.map((part) => ({ ...part, start: position(part.start), end: position(part.end) }));
}
