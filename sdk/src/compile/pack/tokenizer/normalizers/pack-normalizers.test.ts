import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { charsmap } from "#test/tokenizer/charsmap.ts";
import { openNormalizer } from "../../../../runtime/tokenizer/packed/normalizers/open-normalizer.ts";
import type { Origins } from "../../../../runtime/tokenizer/packed/token-places.ts";
import { type NormalizerJson, packNormalizers } from "./pack-normalizers.ts";

const opened = (...normalizers: NormalizerJson[]) => {
  const packed = packNormalizers(normalizers);
  if (!packed) throw new Error("These normalizers cannot be packed.");
  return openNormalizer(packed.steps, packed.arrays);
};
const replace = (from: string, content: string): NormalizerJson => ({
  type: "Replace",
  pattern: { String: from },
  content,
});
const spaces: NormalizerJson = { type: "Replace", pattern: { Regex: String.raw`\s{2,}|[\n\r\t]` }, content: " " };
const precompiled = (...entries: [string, string][]): NormalizerJson => ({
  type: "Precompiled",
  precompiled_charsmap: Buffer.from(charsmap(new Map(entries))).toString("base64"),
});

// Results of Hugging Face's Rust tokenizers: `normalizer.normalize(NormalizedString(text))`.
describe.each<[what: string, normalizers: NormalizerJson[], text: string, normalized: string, origins: Origins]>([
  ["each letter in lower case by itself", [{ type: "Lowercase" }], "ΣΑΣ", "σασ", [0, 1, 1, 2, 2, 3]],
  ["a letter that becomes two", [{ type: "Lowercase" }], "aİ", "ai\u0307", [0, 1, 1, 2, 1, 2]],
  ["marks", [{ type: "NFD" }, { type: "StripAccents" }], "\u0301é\u0301a", "ea", [1, 2, 3, 4]],
  ["compatible characters", [{ type: "NFKC" }], "ﬁ①", "fi1", [0, 1, 0, 1, 1, 2]],
  ["composed characters", [{ type: "NFC" }], "e\u0301x", "éx", [0, 1, 2, 3]],
  ["marks in order", [{ type: "NFD" }], "a\u0301\u0316", "a\u0316\u0301", [0, 1, 1, 2, 2, 3]],
  ["Hangul", [{ type: "NFKD" }], "각", "\u1100\u1161\u11a8", [0, 1, 0, 1, 0, 1]],
  ["control characters", [{ type: "Nmt" }], "\u0001a\tb", "a b", [1, 2, 2, 3, 3, 4]],
  ["a text", [replace("``", '"')], "a``", 'a"', [0, 1, 2, 3]],
  ["white space", [spaces], "a \u0085b\tc", "a b c", [0, 1, 2, 3, 3, 4, 4, 5, 5, 6]],
  ["what is in front", [{ type: "Prepend", prepend: "__" }], "😀a", "__😀a", [0, 2, 0, 2, 0, 2, 0, 2, 2, 3]],
  ["nothing in front of nothing", [{ type: "Prepend", prepend: "__" }], "", "", []],
  [
    "keys at the start, whose removal moves later places",
    [precompiled(["\u0001", ""])],
    "\u0001ab",
    "ab",
    [0, 1, 1, 2],
  ],
  ["keys after added characters", [precompiled(["ﬁ", "fi"], ["\u0001", ""])], "ﬁ\u0001", "fi", [0, 1, 1, 2]],
])("normalizers replace %s", (_, normalizers, text, normalized, expected) => {
  it("in the text, and tell where it comes from", () => {
    const normalize = opened(...normalizers);
    const origins: Origins = [];
    expect([normalize(text), normalize(text, origins)]).toEqual([normalized, normalized]);
    expect(origins).toEqual(expected);
  });
});

describe("a normalization form", () => {
  const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;

  it.each(forms)("gives the same text with and without places: %s", (form) => {
    const normalize = opened({ type: form });
    const point = fc.oneof(
      fc.integer({ min: 0x20, max: 0x17f }),
      fc.integer({ min: 0x300, max: 0x36f }),
      fc.nat(0x1d1ff),
    );
    const text = fc.array(point, { maxLength: 30 }).map((points) => String.fromCodePoint(...points).toWellFormed());
    fc.assert(
      fc.property(text, (text) => {
        const origins: Origins = [];
        const normalized = normalize(text);
        expect(normalize(text, origins)).toBe(normalized);
        expect(origins).toHaveLength(2 * normalized.length);
      }),
      seeded(300),
    );
  });

  // U+32FF is newer than the tokenizers' tables, and U+0897 is a mark that they do not know.
  it.each(forms)("leaves newer characters as they are: %s", (form) => {
    const normalize = opened({ type: form });
    for (const text of ["\u32ff", "a\u0897\u0323"])
      expect([normalize(text), normalize(text, [])]).toEqual([text, text]);
  });
});

it("packs neighbouring normalizers of single characters as one step", () => {
  const types = packNormalizers([{ type: "Nmt" }, { type: "Lowercase" }, { type: "NFD" }, { type: "StripAccents" }]);
  expect(types?.steps.map(({ type }) => type)).toEqual(["each", "form", "each"]);
});
