import { describe, expect, it } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { allCases, sampled } from "../fixtures/sampled.ts";
import { blockHash } from "./block-hash.ts";
import { fuzzedTexts, type TextSet } from "./fuzzed-texts.ts";
import rustIds from "./rust-ids.json" with { type: "json" };
import { variants } from "./variants.ts";

const ALL_TOKENS = 2 ** 30;

// `npm run test:cases` compares about four times as many texts, and all of them with every variant.
const set: TextSet = allCases ? "all" : "suite";
const blocks = fuzzedTexts(set);
const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = rustIds[set];

describe("the packed tokenizer gives the ids of Hugging Face's Rust tokenizers (test/tokenizer/compare.ts)", () => {
  it("for tens of thousands of texts and every variant", () => {
    const texts = blocks.reduce((sum, { texts }) => sum + texts.length, 0);
    expect(texts).toBeGreaterThan(set === "all" ? 70_000 : 20_000);
    expect(Object.keys(expected)).toEqual(Object.keys(variants));
  });

  it.each(Object.entries(variants).map(([...each], i) => [...each, i] as const))(
    "%s",
    async (variant, tokenizer, i) => {
      const { encode } = createPackedTokenizer(packed(tokenizer()), Number.POSITIVE_INFINITY);
      for (const { name, texts } of sampled(blocks, 6, i)) {
        const found = await blockHash(texts.map((text) => encode(text, ALL_TOKENS).ids));
        expect({ [name]: found }).toEqual({ [name]: expected[variant]?.[name] });
      }
      expect(Object.keys(expected[variant] ?? {})).toEqual(blocks.map(({ name }) => name));
    },
  );
});
