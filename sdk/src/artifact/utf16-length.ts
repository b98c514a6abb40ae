/** Returns the number of UTF-16 code units of a code point: 2 if it needs a surrogate pair, else 1. */
export const utf16Length = (codePoint: number): 1 | 2 => (codePoint > 0xffff ? 2 : 1);
