import { describe, expect, it } from "vitest";
import { packed } from "#test/fixtures/packed-tokenizers.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { testDamage, testLongTexts } from "#test/suites/packed-file-suite.ts";
import { unigramVariants } from "#test/tokenizer/unigram.ts";
import { type PackedFile, readPackedFile } from "../packed-file.ts";
import type { UnigramSettings } from "../packed-settings.ts";
import { createPackedTokenizer } from "../packed-tokenizer.ts";

const VOCABULARY = 80_000;
const variant = (name: string) => packed(unigramVariants[name]?.() as object);
const file = variant("unigram");
const notSplit = variant(
  "unigram, bytes, unknown pieces, nothing in front or around, not split, no normalizer, added tokens",
);
const compatible = variant("unigram, NFKC");
const { encode } = createPackedTokenizer(file, VOCABULARY);
const idsOf = (text: string) => [...encode(text, 1000).ids];

/** Creates a tokenizer with these pieces after <unk>, without normalization and special tokens. */
const ofPieces = (...vocab: [piece: string, score: number][]) => {
  const json = {
    ...unigramVariants.unigram?.(),
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "never" },
    post_processor: null,
    model: { type: "Unigram", unk_id: 0, vocab: [["<unk>", 0], ...vocab] },
  };
  const tokenizer = createPackedTokenizer(packed(json), VOCABULARY);
  return (text: string) => [...tokenizer.encode(text, 1000).ids];
};

describe("a packed Unigram tokenizer", () => {
  it("chooses the pieces with the largest sum of scores, then those with the longest last piece", () => {
    const ids = ofPieces(["a", -1], ["b", -1], ["ab", -3], ["ba", -2], ["bab", -2.5]);
    expect(ids("ab")).toEqual([1, 2]);
    expect(ids("ba")).toEqual([4]);
    expect(ids("bab")).toEqual([5]);
    expect(ids("aba")).toEqual([1, 4]);
  });

  it("encodes a run of unknown characters as one token", () => {
    const ids = ofPieces(["a", -1], ["▁", -1]);
    expect(ids("xyazz z")).toEqual([0, 1, 0, 2, 0]);
  });

  it("replaces a short grapheme with the result of its first characters", () => {
    expect(idsOf("ﬁ\u0301ne")).toEqual(idsOf("fine"));
    expect(idsOf("cafe\u0301")).toEqual(idsOf("café"));
    // This grapheme has seven UTF-8 bytes, more than the maximum of five, so it is replaced character by character.
    expect(idsOf("ﬁ\u0301\u0301ne")).not.toEqual(idsOf("fine"));
    expect(idsOf("a\r\nb")).toEqual(idsOf("a b"));
  });

  it("reads lone surrogates as U+FFFD", () => {
    expect(idsOf("a\ud800b\udc00")).toEqual(idsOf("a\ufffdb\ufffd"));
  });

  it("truncates content and keeps <s> and </s>", () => {
    const text = "to be or not to be, that is the question";
    const whole = idsOf(text);
    expect(encode(text, 5)).toEqual({ ids: Int32Array.of(0, ...whole.slice(1, 4), 2), tokens: whole.length });
    expect(idsOf("")).toEqual([0, 2]);
    expect(idsOf(" \n\u3000")).toEqual([0, 2]);
  });

  it("gives the bytes of an unknown character its place", () => {
    const { offsets, words } = createPackedTokenizer(compatible, VOCABULARY).encodePlaced("①丂 é", 99);
    expect([...offsets]).toEqual([0, 0, 0, 1, 1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 0, 0]);
    expect([...words]).toEqual([-1, 0, 0, 0, 0, 1, 1, -1]);
  });

  it("reads a file at an offset that is not a multiple of eight bytes", () => {
    const shifted = new Uint8Array(file.length + 4);
    shifted.set(file, 4);
    expect(createPackedTokenizer(shifted.subarray(4), VOCABULARY).encode("to be", 9).ids).toEqual(
      encode("to be", 9).ids,
    );
  });

  testLongTexts(createPackedTokenizer(file, VOCABULARY), ["the ", "\u0301", "\u200d", "क्", "<mask>"]);
  testLongTexts(createPackedTokenizer(notSplit, VOCABULARY), ["a", " ", "中"]);
  testLongTexts(createPackedTokenizer(compatible, VOCABULARY), ["\u0301\u0316", "\uff9e\u0334", "\u0f73\u0f71", "각"]);
});

describe("a packed Unigram tokenizer refuses", () => {
  it("a vocabulary that is too small", () => {
    expect(refusal(() => createPackedTokenizer(file, 1000))).toBe("tokenizer_invalid");
  });

  it.each([
    ["missing results", "pages", 0xffff],
    ["pairs without a result", "pairResults", 0xffff],
  ] as const)("%s", (_, array, value) => {
    const copy = file.slice();
    (readPackedFile(copy) as PackedFile<UnigramSettings>).arrays[array].fill(value);
    expect(refusal(() => createPackedTokenizer(copy, VOCABULARY).encode("cafe\u0301", 9))).toBe("tokenizer_invalid");
  });
});

describe("a packed Unigram tokenizer's file", () => {
  testDamage(file, { vocabulary: VOCABULARY, added: "<mask>", changes: 20, headerBytes: 1800, maxTokens: 1000 });
  testDamage(compatible, { vocabulary: VOCABULARY, added: "①<mask>", changes: 8, headerBytes: 1800, maxTokens: 1000 });
});
