import { describe, expect, it } from "vitest";
import { defaultTokenizerJson, packed } from "#test/fixtures/packed-tokenizers.ts";
import { testDamage, testLongTexts } from "#test/suites/packed-file-suite.ts";
import { testTokenizer } from "#test/suites/tokenizer-suite.ts";
import { HANGUL_RESULT } from "./characters.ts";
import { type PackedFile, readPackedFile } from "./packed-file.ts";
import type { WordPieceHeader } from "./packed-header.ts";
import { createPackedTokenizer } from "./packed-tokenizer.ts";

const VOCABULARY = 30_522;
const UNKNOWN = 100;
const json = defaultTokenizerJson();
const file = packed(json);
const tokenizer = createPackedTokenizer(file, VOCABULARY);
const contentOf = (text: string) => [...tokenizer.encode(text, 1000).ids].slice(1, -1);

testTokenizer("a packed tokenizer", (of) => createPackedTokenizer(packed(of), Number.POSITIVE_INFINITY));

describe("a packed tokenizer", () => {
  it("reads lone surrogates as U+FFFD, which is removed", () => {
    expect(contentOf("to \ud800be\udc00")).toEqual(contentOf("to be"));
    expect(contentOf("\udc00\ud800")).toEqual([]);
  });

  it("cuts words of up to 100 characters, and counts what is left of them after normalization", () => {
    expect(contentOf("a".repeat(100))).not.toContain(UNKNOWN);
    expect(contentOf("a".repeat(101))).toEqual([UNKNOWN]);
    expect(contentOf("a\u0301".repeat(100))).toEqual(contentOf("a".repeat(100)));
    expect(contentOf(`a${"\u0301".repeat(10_000)}`)).toEqual(contentOf("a"));
  });

  it("puts marks that stay in canonical order, those of one class in theirs", () => {
    const [above, below, left] = ["\u{1e000}", "\u{1d165}", "\u302e"];
    const kept = { ...json, model: { ...json.model, vocab: { "[UNK]": 0, [`a${below}${left}${above}`]: 1 } } };
    const { encode } = createPackedTokenizer(packed({ ...kept, post_processor: null, added_tokens: [] }), 2);
    for (const marks of [
      [above, below, left],
      [left, above, below],
      [below, above, "\u0301", left],
    ]) {
      expect([...encode(`a${marks.join("")}`, 9).ids]).toEqual([1]);
    }
    // A removed mark of class 0 keeps them apart.
    expect([...encode(`a${above}\u0900${below}${left}`, 9).ids]).toEqual([0]);
  });

  testLongTexts(tokenizer, ["a", "[", "[MAS", "\u{1e000}\u{1d165}", "\u0301", "中", " ", "##", "각"]);

  it("reads a file that does not begin at a multiple of four bytes", () => {
    const shifted = new Uint8Array(file.length + 1);
    shifted.set(file, 1);
    const { encode } = createPackedTokenizer(shifted.subarray(1), VOCABULARY);
    expect(encode("to be or not", 9)).toEqual(tokenizer.encode("to be or not", 9));
  });
});

describe("a packed tokenizer refuses", () => {
  const open = (bytes: Uint8Array<ArrayBuffer>, vocabulary = VOCABULARY) => createPackedTokenizer(bytes, vocabulary);
  const changed = (at: number, byte: number) => {
    const copy = file.slice();
    copy[at] = byte;
    return copy;
  };
  const invalid = (message: string) =>
    expect.objectContaining({ code: "tokenizer_invalid", message: expect.stringContaining(message) });

  it("another file", () => {
    expect(() => open(new Uint8Array(0))).toThrow(invalid("does not begin as one"));
    expect(() => open(new TextEncoder().encode(JSON.stringify(json)))).toThrow(invalid("does not begin as one"));
  });

  it("another version's file", () => {
    expect(() => open(changed(8, 9))).toThrow(invalid("has the format 9; this version reads 2"));
  });

  it("a model of fewer words", () => {
    expect(() => open(file, 1000)).toThrow(invalid("but the model has 1000 words"));
  });

  it("a table of characters that leads nowhere, or everywhere to Hangul", () => {
    for (const [section, value] of [
      ["pages", HANGUL_RESULT],
      ["pages", 0xffff],
      ["pageOf", 0xff],
    ] as const) {
      const copy = file.slice();
      (readPackedFile(copy) as PackedFile<WordPieceHeader>).sections[section].fill(value);
      expect(() => open(copy).encode("to be", 9)).toThrow(invalid("a table of characters that is damaged"));
    }
  });
});

describe("a packed tokenizer's file", () => {
  testDamage(file, { vocabulary: VOCABULARY, added: "[MASK]", changes: 3, headerBytes: 1500, maxTokens: 100 });
});
