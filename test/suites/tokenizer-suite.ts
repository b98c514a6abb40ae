import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestFirst } from "#sdk/runtime/tokenizer/longest-first.ts";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { readGolden } from "../fixtures/golden.ts";
import { runs } from "../fixtures/sampled.ts";
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
      seeded(runs(20, 60)),
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

  it("puts two texts into one sequence, and says where token type 1 begins", () => {
    const [first, second] = [
      [2000, 2022],
      [2030, 2025],
    ];
    expect(tokenizer.encodePair("to be", "or not", 256)).toEqual({
      ids: Int32Array.of(CLS, ...first, SEP, ...second, SEP),
      secondFrom: 4,
      tokens: 7,
    });
    expect(tokenizer.encodePair("to be", "or not", 6)).toEqual({
      ids: Int32Array.of(CLS, 2000, SEP, ...second, SEP),
      secondFrom: 3,
      tokens: 7,
    });
    expect(tokenizer.encodePair("", "", 8)).toEqual({ ids: Int32Array.of(CLS, SEP, SEP), secondFrom: 2, tokens: 3 });
  });

  it("gives pairs of any texts the ids of both texts, the longer one cut first", () => {
    fc.assert(
      fc.property(anyText, anyText, fc.integer({ min: 3, max: 40 }), (first, second, maxTokens) => {
        const [a, b] = [first, second].map((text) => idsOf(text, 10_000).slice(1, -1)) as [number[], number[]];
        const { ids, secondFrom, tokens } = tokenizer.encodePair(first, second, maxTokens);
        const [keptA, keptB] = [ids.slice(1, secondFrom - 1), ids.slice(secondFrom, -1)];
        expect([ids[0], ids[secondFrom - 1], ids.at(-1)]).toEqual([CLS, SEP, SEP]);
        expect([...keptA]).toEqual(a.slice(0, keptA.length));
        expect([...keptB]).toEqual(b.slice(0, keptB.length));
        expect(tokens).toBe(a.length + b.length + 3);
        expect(ids.length).toBe(Math.min(tokens, maxTokens));
        if (keptA.length < a.length) expect(keptA.length).toBeGreaterThanOrEqual(keptB.length - 1);
        if (keptB.length < b.length) expect(keptB.length).toBeGreaterThanOrEqual(keptA.length - 1);
      }),
      seeded(runs(75, 300)),
    );
  });

  it("cuts a text with many others as if it had read all to their ends", () => {
    const words = fc.array(fc.constantFrom("to ", "be ", "or", "not", "unaffable ", "é", "!", "  "), {
      maxLength: 600,
    });
    const long = words.map((parts) => parts.join(""));
    const side = fc.constantFrom("left", "right");
    fc.assert(
      fc.property(
        long,
        fc.array(long, { maxLength: 4 }),
        fc.integer({ min: 3, max: 13 }),
        side,
        (first, others, ...how) => {
          const [maxTokens, side] = how;
          const contentOf = (text: string) => idsOf(text, 100_000).slice(1, -1);
          const kept = (ids: readonly number[], room: number) =>
            side === "left" ? ids.slice(ids.length - room) : ids.slice(0, room);
          const encode = tokenizer.pairsWith(first, maxTokens, side);
          for (const second of others) {
            const [a, b] = [contentOf(first), contentOf(second)];
            const [ofFirst, ofSecond] = longestFirst(a.length, b.length, maxTokens - 3);
            const { ids, secondFrom, tokens } = encode(second);
            expect([...ids]).toEqual([CLS, ...kept(a, ofFirst), SEP, ...kept(b, ofSecond), SEP]);
            expect(secondFrom).toBe(ofFirst + 2);
            expect(tokens > maxTokens).toBe(a.length + b.length + 3 > maxTokens);
            expect(tokenizer.encodePair(first, second, maxTokens, side)).toEqual({ ids, secondFrom, tokens });
          }
        },
      ),
      seeded(runs(75, 300)),
    );
  });

  it("cuts pairs of very long texts as if it had read them to their ends", () => {
    const long = "to be or not ".repeat(6000);
    const cut = (first: string, second: string) => tokenizer.encodePair(first, second, 8).secondFrom;
    expect(cut(long, "to be")).toBe(5);
    expect(cut(`${long} to`, long)).toBe(5);
    expect(cut(long, long)).toBe(4);
    expect(cut(long, `${long} to`)).toBe(4);
    expect(tokenizer.encodePair("to be", long, 8).tokens).toBeGreaterThan(8);
  });

  it("encodes single texts without a template for pairs, and refuses pairs", () => {
    const json = model("tokenizer.json");
    const [cls, a, sep, b, end] = json.post_processor.pair;
    const typed = (piece: object, type_id: number) =>
      Object.fromEntries(Object.entries(piece).map(([kind, fields]) => [kind, { ...fields, type_id }]));
    for (const pair of [
      undefined,
      [],
      [a, b, typed(end, 2)],
      [typed(cls, 1), a, sep, b],
      [a, sep, typed(b, 0), end],
      [b, a],
      [cls, a, a, b],
      [cls, a, { SpecialToken: { id: "[GONE]", type_id: 0 } }, b],
      "$A $B",
    ]) {
      const { encode, encodePair } = open({ ...json, post_processor: { ...json.post_processor, pair } }, {});
      expect([...encode("to be", 9).ids]).toEqual([CLS, 2000, 2022, SEP]);
      expect(() => encodePair("to be", "or not", 9)).toThrow(expect.objectContaining({ code: "pairs_unsupported" }));
    }
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
      seeded(runs(125, 500)),
    );
  });

  it("cuts ids at their end", () => {
    fc.assert(
      fc.property(anyText, anyMaxTokens, (text, maxTokens) => {
        const whole = idsOf(text, 10_000);
        const cut = idsOf(text, maxTokens);
        expect(cut.slice(0, -1)).toEqual(whole.slice(0, cut.length - 1));
      }),
      seeded(runs(50, 200)),
    );
  });

  it("keeps no state between texts", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const before = idsOf(text, 40);
        tokenizer.encode(other, 40);
        expect(idsOf(text, 40)).toEqual(before);
      }),
      seeded(runs(50, 200)),
    );
  });
}
