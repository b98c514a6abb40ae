const PRINTED = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;

/** The characters that stand for the bytes 0 to 255: those that are printed for themselves, all others from U+0100 on. */
export const byteCharacters: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printed = PRINTED.some(([first, last]) => byte >= first && byte <= last);
    return String.fromCharCode(printed ? byte : next++);
  });
})();
