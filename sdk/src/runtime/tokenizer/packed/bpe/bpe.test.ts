import { describe, expect, it } from "vitest";
import { packed } from "#test/fixtures/packed-tokenizers.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { testDamage, testLongTexts } from "#test/suites/packed-file-suite.ts";
import { bpeVariants } from "#test/tokenizer/bpe.ts";
import { createPackedTokenizer } from "../packed-tokenizer.ts";

const VOCABULARY = 100_000;
const variant = (name: string) => packed(bpeVariants[name]?.() as object);
const file = variant("bpe");
const tokenizer = createPackedTokenizer(file, VOCABULARY);
const fusing = createPackedTokenizer(variant("bpe, each mark begins a word, unknown characters fused"), VOCABULARY);
const crossing = createPackedTokenizer(
  variant("bpe, a tab instead of its byte, merges across words, added tokens"),
  VOCABULARY,
);
const spelled = ({ encode, vocabulary }: typeof tokenizer, text: string) =>
  [...encode(text, 1000).ids].slice(1, -1).map((id) => vocabulary.spellingOf(id));

describe("packed BPE over characters", () => {
  it("reads characters that are no token as bytes, or as one unknown token", () => {
    expect(spelled(tokenizer, "☃")).toEqual(["<0xE2>", "<0x98>", "<0x83>"]);
    expect(spelled(fusing, "☃☃ ☃")).toEqual(["▁", "<unk>", "▁", "<unk>"]);
  });

  it("reads a tab that is a token, and merges across words", () => {
    expect(spelled(crossing, "\tis you")).toEqual(["\t", "i", "s▁", "y", "ou"]);
  });

  it("reads lone surrogates as U+FFFD", () => {
    expect(spelled(tokenizer, "\ud800")).toEqual(spelled(tokenizer, "\ufffd"));
  });

  it("gives the bytes of a character its place, and all words of a text the same number", () => {
    const { offsets, words } = tokenizer.encodePlaced("to ☃", 100);
    expect([...offsets.slice(-8)]).toEqual([3, 4, 3, 4, 3, 4, 0, 0]);
    expect(new Set(words.slice(1, -1))).toEqual(new Set([0]));
  });

  it("fuses unknown characters of a word that is merged in blocks", () => {
    expect(spelled(fusing, `${"☃".repeat(300_000)} to`).slice(0, 3)).toEqual(["▁", "<unk>", "▁to"]);
  });

  testLongTexts(tokenizer, ["a", "the ", " ", "\n", "☃", "中", "<s>", " <mask>", "🎉", "▁"]);
  testLongTexts(crossing, ["a", "is ", " ", "\t", "☃"]);
  testLongTexts(fusing, ["a", "the ", "☃", "▁", "☃a"]);

  it("refuses a vocabulary that is too small", () => {
    expect(refusal(() => createPackedTokenizer(file, 1000))).toBe("tokenizer_invalid");
  });

  testDamage(file, { vocabulary: VOCABULARY, added: "<mask>", changes: 40, headerBytes: 1500, maxTokens: 1000 });
});
