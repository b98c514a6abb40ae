import { describe, expect, it } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { sampled } from "../fixtures/sampled.ts";
import { blockHash } from "./block-hash.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import { placedNumbers } from "./placed-numbers.ts";
import rustPlaces from "./rust-places.json" with { type: "json" };
import { unigramVariants } from "./unigram.ts";

const blocks = fuzzedTexts("suite");
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = rustPlaces;

describe("the packed tokenizer finds tokens where Hugging Face's Rust tokenizers do (test/tokenizer/compare-places.ts)", () => {
  it("for tens of thousands of texts and every variant", () => {
    expect(blocks.reduce((sum, { texts }) => sum + texts.length, 0)).toBeGreaterThan(20_000);
    expect(Object.keys(expected)).toEqual(Object.keys(unigramVariants));
  });

  it.each(Object.entries(unigramVariants).map(([...each], i) => [...each, i] as const))(
    "%s",
    async (variant, tokenizer, i) => {
      const opened = createPackedTokenizer(packed(tokenizer()), Number.POSITIVE_INFINITY);
      for (const { name, texts } of sampled(blocks, 8, i)) {
        const found = await blockHash(texts.map((text) => placedNumbers(opened, text)));
        expect({ [name]: found }).toEqual({ [name]: expected[variant]?.[name] });
      }
      expect(Object.keys(expected[variant] ?? {})).toEqual(blocks.map(({ name }) => name));
    },
  );
});
