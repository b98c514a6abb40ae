import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";

interface Placed {
  readonly text: string;
  readonly ids: readonly number[];
  /** Start and end of each token, as Python counts: in code points. */
  readonly offsets: readonly number[];
  readonly words: readonly number[];
}

/** What test/golden/offsets.py has written. */
const cases = JSON.parse(readFileSync(new URL("offsets.json", import.meta.url), "utf8")) as Readonly<
  Record<string, { readonly tokenizer: object; readonly texts: readonly Placed[] }>
>;

/** Returns the position of each code point of a text in UTF-16, and the end of the text. */
function positionsIn(text: string): number[] {
  const positions = [0];
  for (const character of text) positions.push((positions.at(-1) as number) + character.length);
  return positions;
}

describe.each(Object.entries(cases))("the places of tokens: %s", (_, { tokenizer: json, texts }) => {
  const bytes = packTokenizer(json);
  if (!bytes) throw new Error("This tokenizer cannot be packed.");
  const tokenizer = createPackedTokenizer(bytes, Number.POSITIVE_INFINITY);

  it.each(texts)("are those of Hugging Face's tokenizers in $text", ({ text, ids, offsets, words }) => {
    const placed = tokenizer.encodePlaced(text, 512);
    expect([...placed.ids]).toEqual(ids);
    expect(placed.ids).toEqual(tokenizer.encode(text, 512).ids);
    const positions = positionsIn(text);
    expect([...placed.offsets]).toEqual(offsets.map((offset) => positions[offset]));
    expect([...placed.words]).toEqual(words);
  });
});
