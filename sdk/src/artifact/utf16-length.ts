/** Returns the UTF-16 code units of a code point: two for those that are a pair of surrogates. */
export const utf16Length = (codePoint: number): 1 | 2 => (codePoint > 0xffff ? 2 : 1);
