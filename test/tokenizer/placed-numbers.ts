import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";

const ALL_TOKENS = 2 ** 30;

/** Returns what rust_places.py writes for a text: token ids, starts and ends in code points, and words. */
export function placedNumbers({ encodePlaced }: Tokenizer, text: string): number[] {
  const { ids, offsets, words } = encodePlaced(text, ALL_TOKENS);
  const codePointsBefore: number[] = [];
  let count = 0;
  for (const character of text) {
    for (let unit = 0; unit < character.length; unit++) codePointsBefore.push(count);
    count++;
  }
  codePointsBefore.push(count);
  return [...ids, ...Array.from(offsets, (offset) => codePointsBefore[offset] as number), ...words];
}
