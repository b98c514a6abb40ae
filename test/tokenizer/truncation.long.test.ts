import { describe, expect, it } from "vitest";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { defaultTokenizerJson, packed } from "../fixtures/packed-tokenizers.ts";
import { sampled } from "../fixtures/sampled.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import { variants } from "./variants.ts";

const VOCABULARY = Number.POSITIVE_INFINITY;
const [TEXTS, PARTS] = [40, 60];

/** Texts of plain words and of fuzzed parts, long enough to be read in part. */
function longTexts(): string[] {
  const random = randomNumbers(7);
  const fuzzed = fuzzedTexts("suite").flatMap(({ texts }) => texts);
  const words = ["to", "be", "or", "not", "question", "2026", "X", "it's"];
  const one = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  return Array.from({ length: TEXTS }, (_, i) =>
    Array.from({ length: PARTS }, () => (random() < 0.2 + (i % 3) / 4 ? one(fuzzed) : one(words))).join(" "),
  );
}

const texts = longTexts();

describe.each(sampled(Object.entries(variants), 3))("the beginning of a long text: %s", (_, json) => {
  it("has the tokens that the whole text begins with", () => {
    const { encode, encodePlaced } = createPackedTokenizer(packed(json()), VOCABULARY);
    let cut = 0;
    for (const text of texts) {
      const whole = encode(text, Number.MAX_SAFE_INTEGER);
      for (const maxTokens of [4, 9, 17]) {
        const { ids, tokens } = encode(text, maxTokens);
        const placed = encodePlaced(text, maxTokens);
        // The last token can be [SEP].
        const same = whole.tokens > maxTokens ? maxTokens - 1 : whole.tokens;
        expect(ids.slice(0, same)).toEqual(whole.ids.slice(0, same));
        expect(placed.ids).toEqual(ids);
        expect(tokens > maxTokens).toBe(whole.tokens > maxTokens);
        if (tokens < whole.tokens) cut++;
      }
    }
    expect(cut).toBeGreaterThan(TEXTS);
  });
});

describe("a text that is cut at its left", () => {
  const { encode, encodePlaced, encodePair } = createPackedTokenizer(packed(defaultTokenizerJson()), VOCABULARY);
  const text = "to be or not to be, that is the question";

  // From Hugging Face's Rust tokenizers, with `enable_truncation(…, direction="left")`.
  it("has the ids of Hugging Face's tokenizers, also in a pair", () => {
    expect([...encode(text, 7, "left").ids]).toEqual([101, 1010, 2008, 2003, 1996, 3160, 102]);
    expect([...encodePair(text, "whether tis nobler in the mind", 12, "left").ids]).toEqual([
      ...[101, 1010, 2008, 2003, 1996, 3160, 102, 2099, 1999, 1996, 2568, 102],
    ]);
    expect([...encodePair(text, "nobler mind", 12, "left").ids]).toEqual([
      ...[101, 2022, 1010, 2008, 2003, 1996, 3160, 102, 7015, 2099, 2568, 102],
    ]);
  });

  // From transformers, with `truncation="only_second"` and `return_overflowing_tokens`.
  it("is read in parts from its end, as a context of a question", () => {
    const { encodeWindows } = createPackedTokenizer(packed(defaultTokenizerJson()), VOCABULARY, "left");
    const sizes = { maxTokens: 11, maxQuestionTokens: 64, stride: 2 };
    const windows = encodeWindows("to be", "whether tis nobler in the mind, to suffer", sizes);
    expect(windows.map(({ ids }) => [...ids])).toEqual([
      [101, 2000, 2022, 102, 1999, 1996, 2568, 1010, 2000, 9015, 102],
      [101, 2000, 2022, 102, 3251, 22320, 7015, 2099, 1999, 1996, 102],
    ]);
  });

  it("has the last tokens of a long text, and their places", () => {
    for (const long of texts) {
      const whole = encode(long, Number.MAX_SAFE_INTEGER).ids;
      const { ids, offsets } = encodePlaced(long, 12, "left");
      expect(ids).toEqual(encode(long, 12, "left").ids);
      expect(ids.slice(1)).toEqual(whole.slice(-11));
      expect(offsets.slice(2, -2)).toEqual(encodePlaced(long, Number.MAX_SAFE_INTEGER).offsets.slice(-22, -2));
    }
  });

  it("is not changed if it is short", () => {
    expect(encode(text, 100, "left")).toEqual(encode(text, 100));
    expect(encode("", 3, "left")).toEqual(encode("", 3));
  });
});

describe("a text that must be read to its end", () => {
  const { encode, encodeChunks, encodePair } = createPackedTokenizer(packed(defaultTokenizerJson()), VOCABULARY);
  const [longest, longer] = ["a ".repeat(125_000), `${"a ".repeat(125_000)}a`];

  it("may have 250,000 characters", () => {
    expect(encode(longest, 8, "left").ids).toHaveLength(8);
    expect(encodeChunks(longest, 512)).toHaveLength(Math.ceil(125_000 / 510));
  });

  it("is refused if it has more", () => {
    const refused = expect.objectContaining({ code: "input_too_long", message: expect.stringContaining("250001") });
    expect(() => encode(longer, 8, "left")).toThrow(refused);
    expect(() => encodePair("a", longer, 8, "left")).toThrow(refused);
    expect(() => encodeChunks(longer, 512)).toThrow(refused);
    expect(encode(longer, 8).ids).toHaveLength(8);
  });
});

describe("a text whose tokens need places", () => {
  const { encodePlaced, encodeWindows } = createPackedTokenizer(packed(defaultTokenizerJson()), VOCABULARY);
  const [words, word] = ["to be or not ".repeat(150_000), "a".repeat(250_001)];

  it("may be longer than 250,000 characters if its beginning is enough", () => {
    expect(encodePlaced(words, 8).ids).toHaveLength(8);
    expect(encodePlaced(word.slice(1), 8).ids).toHaveLength(3);
  });

  it("is refused if more characters must be read", () => {
    const refused = expect.objectContaining({ code: "input_too_long" });
    expect(() => encodePlaced(word, 8)).toThrow(refused);
    expect(() => encodePlaced(words, 8, "left")).toThrow(refused);
    expect(() => encodeWindows("to be", words, { maxTokens: 64, maxQuestionTokens: 8, stride: 8 })).toThrow(refused);
  });

  it("is refused if it needs more windows than are allowed", () => {
    const windows = (maxWindows: number) =>
      encodeWindows("to", "be ".repeat(20), { maxTokens: 14, maxQuestionTokens: 8, stride: 9, maxWindows });
    expect(windows(11)).toHaveLength(11);
    expect(() => windows(10)).toThrow(expect.objectContaining({ code: "too_many_inputs" }));
  });
});
