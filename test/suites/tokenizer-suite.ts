import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { readGolden } from "../fixtures/golden.ts";
import { seeded } from "../fixtures/seeded.ts";

const model = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../models/default/${file}`, import.meta.url), "utf8"));
const golden = await readGolden(new URL("../../models/default", import.meta.url).pathname);

const GOLDEN_MAX_TOKENS = 256;
const CLS = 101;
const SEP = 102;
const VOCABULARY = 30_522;

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  // Any UTF-16 code units, including lone surrogates.
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
  fc.string({ unit: fc.constantFrom("[CLS]", "[SEP]", "##", " ", "\0", "\u0301", "私", "é", "\u200d", "🎉", "word") }),
);
const anyMaxTokens = fc.integer({ min: 3, max: 40 });

/**
 * Defines the tests that every tokenizer must pass. `open` creates the tokenizer from the contents of tokenizer.json
 * and tokenizer_config.json.
 */
export function testTokenizer(name: string, open: (json: object, config: object) => Tokenizer): void {
  describe(name, () => tests(open));
}

function tests(open: (json: object, config: object) => Tokenizer): void {
  const tokenizer = open(model("tokenizer.json"), model("tokenizer_config.json"));
  const idsOf = (text: string, maxTokens: number) => [...tokenizer.encode(text, maxTokens).ids];

  it("has 90 golden cases", () => {
    expect(golden).toHaveLength(90);
  });

  it.each(golden)("gives the reference's ids: $text", ({ text, input_ids }) => {
    expect(idsOf(text, GOLDEN_MAX_TOKENS)).toEqual(input_ids);
  });

  it("counts the tokens of the uncut text", () => {
    const text = "to be or not to be";
    expect(tokenizer.encode(text, 256)).toEqual({
      ids: Int32Array.of(CLS, 2000, 2022, 2030, 2025, 2000, 2022, SEP),
      tokens: 8,
    });
    expect(tokenizer.encode(text, 5)).toEqual({ ids: Int32Array.of(CLS, 2000, 2022, 2030, SEP), tokens: 8 });
  });

  it("cuts content and keeps [CLS] and [SEP], down to one token between them", () => {
    expect(idsOf("to be or not to be", 3)).toEqual([CLS, 2000, SEP]);
  });

  it("gives a very long text the ids of its beginning, wherever it stops reading", () => {
    const anyWord = fc.oneof(
      fc.string({ unit: fc.constantFrom("a", "b", "é", "私", "🎉", "\u0301"), minLength: 1, maxLength: 150 }),
      fc.nat(400).map((length) => " ".repeat(length)),
    );
    const longText = fc.array(anyWord, { minLength: 60, maxLength: 400 }).map((words) => words.join(" ").repeat(4));
    fc.assert(
      fc.property(longText, fc.integer({ min: 3, max: 12 }), (text, maxTokens) => {
        const whole = idsOf(text, Number.MAX_SAFE_INTEGER);
        const expected = whole.length > maxTokens ? [...whole.slice(0, maxTokens - 1), SEP] : whole;
        expect(idsOf(text, maxTokens)).toEqual(expected);
        expect(tokenizer.encode(text, maxTokens).tokens > maxTokens).toBe(whole.length > maxTokens);
      }),
      seeded(60),
    );
  });

  it("finds the special tokens of tokenizers that put other tokens, or none, around a text", () => {
    const json = model("tokenizer.json");
    const roberta = structuredClone(json);
    roberta.post_processor.single = [
      { SpecialToken: { id: "[CLS]", type_id: 0 } },
      { SpecialToken: { id: "[MASK]", type_id: 0 } },
      { Sequence: { id: "A", type_id: 0 } },
    ];
    roberta.post_processor.special_tokens["[MASK]"] = { id: "[MASK]", ids: [103], tokens: ["[MASK]"] };
    expect([...open(roberta, {}).encode("to be or not", 4).ids]).toEqual([CLS, 103, 2000, 2022]);

    const bare = { ...json, post_processor: null };
    expect([...open(bare, {}).encode("to be or not", 3).ids]).toEqual([2000, 2022, 2030]);
  });

  it("gives empty texts, and texts of control characters, the special tokens alone", () => {
    for (const text of ["", " \t\n", "\0\u0001"]) expect(idsOf(text, 16)).toEqual([CLS, SEP]);
  });

  it("gives any text ids below the vocabulary size between [CLS] and [SEP], and not more than asked for", () => {
    fc.assert(
      fc.property(anyText, anyMaxTokens, (text, maxTokens) => {
        const { ids, tokens } = tokenizer.encode(text, maxTokens);
        expect(ids.length).toBe(Math.min(tokens, maxTokens));
        expect([ids[0], ids.at(-1)]).toEqual([CLS, SEP]);
        expect(ids.every((id) => id >= 0 && id < VOCABULARY)).toBe(true);
      }),
      seeded(500),
    );
  });

  it("cuts ids at their end", () => {
    fc.assert(
      fc.property(anyText, anyMaxTokens, (text, maxTokens) => {
        const whole = idsOf(text, 10_000);
        const cut = idsOf(text, maxTokens);
        expect(cut.slice(0, -1)).toEqual(whole.slice(0, cut.length - 1));
      }),
      seeded(200),
    );
  });

  it("keeps no state between texts", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const before = idsOf(text, 40);
        tokenizer.encode(other, 40);
        expect(idsOf(text, 40)).toEqual(before);
      }),
      seeded(200),
    );
  });
}
