import { describe, expect, it } from "vitest";
import { variedTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { createJsonTokenizer } from "#sdk/runtime/tokenizer/json-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { sampled } from "../fixtures/sampled.ts";
import { blockHash } from "./block-hash.ts";
import { type FuzzedPair, fuzzedPairs } from "./fuzzed-pairs.ts";
import { idsAndTypes } from "./ids-and-types.ts";
import { pairVariants, templateVariants } from "./pair-variants.ts";
import rustPairs from "./rust-pairs.json" with { type: "json" };

const pairs = fuzzedPairs();
const open = (json: object) => createPackedTokenizer(packed(json), Number.POSITIVE_INFINITY);

describe("the packed tokenizer encodes pairs like Hugging Face's Rust tokenizers (test/tokenizer/compare-pairs.ts)", () => {
  it("with every variant", () => {
    expect(Object.keys(rustPairs)).toEqual(Object.keys(pairVariants));
  });

  it.each(sampled(Object.entries(pairVariants), 3))("%s", async (variant, tokenizer) => {
    expect(await blockHash(idsAndTypes(open(tokenizer()), pairs))).toBe(rustPairs[variant as keyof typeof rustPairs]);
  });
});

describe("a tokenizer read from JSON encodes pairs like a packed one", () => {
  const sentences = variedTexts.filter((text) => /^[\w ,.]+$/.test(text));
  const pairs = sentences.flatMap((first, i): FuzzedPair[] =>
    ["", sentences[(7 * i) % sentences.length] as string, sentences.join(" ")].map((second) => [first, second, 4 + i]),
  );

  it.each(Object.entries(templateVariants))("%s", (_, tokenizer) => {
    expect(pairs.length).toBeGreaterThan(20);
    const json = tokenizer();
    expect(idsAndTypes(createJsonTokenizer(json, {}), pairs)).toEqual(idsAndTypes(open(json), pairs));
  });
});
