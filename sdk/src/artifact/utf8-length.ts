/** Returns the number of UTF-8 bytes of a code point. */
export const utf8Length = (codePoint: number): 1 | 2 | 3 | 4 =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
