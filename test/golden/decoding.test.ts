import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";

interface Case {
  readonly config?: object;
  readonly tokenizer: {
    readonly model: { readonly vocab: Readonly<Record<string, number>> | readonly [string, number][] };
  };
  readonly lists: readonly { readonly ids: number[]; readonly text: string; readonly without_special: string }[];
}

/** What test/golden/decoding.py has written. */
const cases = JSON.parse(readFileSync(new URL("decoding.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Case>
>;

describe.each(Object.entries(cases))("the texts of tokens: %s", (_, { tokenizer: json, config, lists }) => {
  const bytes = packTokenizer(json, config);
  if (!bytes) throw new Error("This tokenizer cannot be packed.");
  const { vocabulary } = createPackedTokenizer(bytes, Number.POSITIVE_INFINITY);

  it.each(lists)("are those of Hugging Face's tokenizers for $ids", ({ ids, text, without_special }) => {
    expect(vocabulary.decode(ids)).toBe(text);
    expect(vocabulary.decode(ids, { skipSpecial: true })).toBe(without_special);
  });

  it("are spelled as in tokenizer.json", () => {
    const { vocab } = json.model;
    const spellings = Array.isArray(vocab)
      ? vocab.map(([spelling], id) => [spelling, id] as const)
      : Object.entries(vocab as Readonly<Record<string, number>>);
    for (const [spelling, id] of spellings) {
      expect([id, vocabulary.spellingOf(id)]).toEqual([id, spelling]);
      expect(vocabulary.idOf(spelling)).toBe(id);
    }
  });
});
