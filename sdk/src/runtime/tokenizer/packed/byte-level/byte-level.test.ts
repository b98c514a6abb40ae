import { describe, expect, it } from "vitest";
import { packed } from "#test/fixtures/packed-tokenizers.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { testDamage, testLongTexts } from "#test/suites/packed-file-suite.ts";
import { byteLevelVariants } from "#test/tokenizer/byte-level.ts";
import { createPackedTokenizer } from "../packed-tokenizer.ts";

const VOCABULARY = 50_000;
const variant = (name: string) => packed(byteLevelVariants[name]?.() as object);
const file = variant("byte-level");
const { encode } = createPackedTokenizer(file, VOCABULARY);
const composing = createPackedTokenizer(
  variant("byte-level, composed, a space before, nothing around, added tokens"),
  VOCABULARY,
);
const idsOf = (text: string) => [...encode(text, 1000).ids];

describe("a packed byte-level tokenizer", () => {
  it("reads lone surrogates as U+FFFD", () => {
    expect(idsOf("a\ud800b\udc00")).toEqual(idsOf("a\ufffdb\ufffd"));
    expect(idsOf("\udc00\ud800")).toEqual(idsOf("\ufffd\ufffd"));
  });

  it("composes texts, and does not reorder marks that are newer than its tables", () => {
    const ids = (text: string) => [...composing.encode(text, 100).ids];
    expect(ids("cafe\u0301 \u1112\u1161\u11ab")).toEqual(ids("caf\u00e9 \ud55c"));
    expect(ids("\u0f40\u0f80\u0f73")).toEqual(ids("\u0f40\u0f71\u0f80\u0f72"));
    expect(ids("e\u0897\u0323")).not.toEqual(ids("e\u0323\u0897"));
  });

  it("truncates content and keeps <s> and </s>", () => {
    const whole = idsOf("to be or not to be, that is the question");
    expect(encode("to be or not to be, that is the question", 5)).toEqual({
      ids: Int32Array.of(0, ...whole.slice(1, 4), 2),
      tokens: whole.length,
    });
    expect(idsOf("")).toEqual([0, 2]);
  });

  it("finds places in texts that have more characters than a call can have arguments", () => {
    const length = 240_000;
    const placed = createPackedTokenizer(file, VOCABULARY).encodePlaced(" a".repeat(length / 2), 2 * length);
    expect(placed.offsets.slice(-4)).toEqual(Int32Array.of(length - 1, length, 0, 0));
  });

  testLongTexts(composing, [
    "a",
    "the ",
    " ",
    "\n",
    "'",
    "'s",
    "<s>",
    " <mask>",
    "\u0301",
    "\u{1e000}\u{1d165}",
    "中",
    "각",
  ]);

  it("refuses a vocabulary that is too small", () => {
    expect(refusal(() => createPackedTokenizer(file, 1000))).toBe("tokenizer_invalid");
  });

  testDamage(file, { vocabulary: VOCABULARY, added: "<mask>", changes: 40, headerBytes: 1100, maxTokens: 1000 });
});
