import { describe, expect, it } from "vitest";
import { defaultTokenizerJson, packed } from "#test/fixtures/packed-tokenizers.ts";
import { float32Tensor, safetensorsFile } from "#test/fixtures/safetensors-file.ts";
import { testDamage, testLongTexts } from "#test/suites/packed-file-suite.ts";
import { testTokenizer } from "#test/suites/tokenizer-suite.ts";
import { writeSafetensors } from "../../../artifact/safetensors.ts";
import { FORMAT, type PackedFile, readPackedFile } from "./packed-file.ts";
import type { WordPieceSettings } from "./packed-settings.ts";
import { createPackedTokenizer } from "./packed-tokenizer.ts";
import { HANGUL_RESULT } from "./word-piece/characters.ts";

const VOCABULARY = 30_522;
const UNKNOWN = 100;
const json = defaultTokenizerJson();
const file = packed(json);
const tokenizer = createPackedTokenizer(file, VOCABULARY);
const contentOf = (text: string) => [...tokenizer.encode(text, 1000).ids].slice(1, -1);

testTokenizer("a packed tokenizer", (of) => createPackedTokenizer(packed(of), Number.POSITIVE_INFINITY));

describe("a packed tokenizer", () => {
  it("removes lone surrogates and U+FFFD", () => {
    expect(contentOf("to \ud800be\udc00")).toEqual(contentOf("to be"));
    expect(contentOf("\udc00\ud800")).toEqual([]);
  });

  it("splits words of up to 100 characters, counted after normalization", () => {
    expect(contentOf("a".repeat(100))).not.toContain(UNKNOWN);
    expect(contentOf("a".repeat(101))).toEqual([UNKNOWN]);
    expect(contentOf("a\u0301".repeat(100))).toEqual(contentOf("a".repeat(100)));
    expect(contentOf(`a${"\u0301".repeat(10_000)}`)).toEqual(contentOf("a"));
  });

  it("sorts remaining marks by combining class, and keeps the order within a class", () => {
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
    // A removed mark of class 0 separates the marks before it from those after it.
    expect([...encode(`a${above}\u0900${below}${left}`, 9).ids]).toEqual([0]);
  });

  testLongTexts(tokenizer, ["a", "[", "[MAS", "\u{1e000}\u{1d165}", "\u0301", "中", " ", "##", "각"]);

  it("reads a file at an offset that is not a multiple of eight bytes", () => {
    const shifted = new Uint8Array(file.length + 1);
    shifted.set(file, 1);
    const { encode } = createPackedTokenizer(shifted.subarray(1), VOCABULARY);
    expect(encode("to be or not", 9)).toEqual(tokenizer.encode("to be or not", 9));
  });
});

describe("a packed tokenizer refuses", () => {
  const open = (bytes: Uint8Array<ArrayBuffer>, vocabulary = VOCABULARY) => createPackedTokenizer(bytes, vocabulary);
  const invalid = (message: string) =>
    expect.objectContaining({ code: "tokenizer_invalid", message: expect.stringContaining(message) });

  it("a file of another format", () => {
    expect(() => open(new Uint8Array(0))).toThrow(invalid("is not a valid safetensors file"));
    expect(() => open(new TextEncoder().encode(JSON.stringify(json)))).toThrow(
      invalid("is not a valid safetensors file"),
    );
  });

  it("a file of another format version", () => {
    const older = safetensorsFile({}, { format: "bert-edge-tokenizer/2" });
    expect(() => open(older)).toThrow(
      invalid("has the format bert-edge-tokenizer/2; this version reads bert-edge-tokenizer/5"),
    );
    expect(() => open(safetensorsFile({}))).toThrow(invalid("has the format (none)"));
  });

  it("a model with a smaller vocabulary", () => {
    expect(() => open(file, 1000)).toThrow(invalid("but the model's vocabulary size is 1000"));
  });

  it.each([
    ["a file without a tensor", () => [], "lacks the tensor pageOf"],
    [
      "numbers of another type",
      () => [["pageOf", float32Tensor([0], [])] as const],
      "has the tensor pageOf with the type F32 instead of U8, U16 or U32",
    ],
    [
      "integers that are not aligned",
      () => [
        ["first", { dtype: "U8", shape: [1], data: Uint8Array.of(1) }] as const,
        ["pageOf", { dtype: "U16", shape: [1], data: Uint8Array.of(1, 0) }] as const,
      ],
      "has the tensor pageOf at byte",
    ],
  ] as const)("%s", (_, tensors, message) => {
    const settings = { kind: "byte-level", composes: false, prefixSpace: false, prefix: [], suffix: [], added: [] };
    const metadata = { format: FORMAT, settings: JSON.stringify(settings) };
    expect(() => open(writeSafetensors(tensors(), { metadata }))).toThrow(invalid(message));
  });

  it("a character table with missing results, or with Hangul results for other characters", () => {
    for (const [array, value] of [
      ["pages", HANGUL_RESULT],
      ["pages", 0xffff],
      ["pageOf", 0xff],
    ] as const) {
      const copy = file.slice();
      (readPackedFile(copy) as PackedFile<WordPieceSettings>).arrays[array].fill(value);
      expect(() => open(copy).encode("to be", 9)).toThrow(invalid("has a damaged table of characters"));
    }
  });
});

describe("a packed tokenizer's file", () => {
  testDamage(file, { vocabulary: VOCABULARY, added: "[MASK]", changes: 3, headerBytes: 1500, maxTokens: 100 });
});
