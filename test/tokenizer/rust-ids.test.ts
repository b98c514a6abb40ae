import { describe, expect, it } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { blockHash } from "./block-hash.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import rustIds from "./rust-ids.json" with { type: "json" };
import { variants } from "./variants.ts";

const ALL = 2 ** 30;
const blocks = fuzzedTexts();

describe("the packed tokenizer has the ids of Hugging Face's Rust tokenizers (node test/tokenizer/compare.ts)", () => {
  it("on tens of thousands of texts, for every variant", () => {
    expect(blocks.reduce((sum, { texts }) => sum + texts.length, 0)).toBeGreaterThan(70_000);
    expect(Object.keys(rustIds)).toEqual(Object.keys(variants));
  });

  it.each(Object.entries(variants))("%s", async (variant, tokenizer) => {
    const { encode } = createPackedTokenizer(packed(tokenizer()), Number.POSITIVE_INFINITY);
    const hashes = blocks.map(async ({ name, texts }) => [
      name,
      await blockHash(texts.map((text) => encode(text, ALL).ids)),
    ]);
    expect(Object.fromEntries(await Promise.all(hashes))).toEqual(rustIds[variant as keyof typeof rustIds]);
  });
});
