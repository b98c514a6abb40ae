import { expect, it } from "vitest";
import { lowerCased } from "./transformer-config.ts";

const lowercase = { type: "Lowercase" };
const nfc = { type: "NFC" };
const bert = { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true };

it.each([
  [null, lowercase],
  [undefined, lowercase],
  [lowercase, lowercase],
  [nfc, { type: "Sequence", normalizers: [lowercase, nfc] }],
  [
    { type: "Sequence", normalizers: [nfc] },
    { type: "Sequence", normalizers: [lowercase, nfc] },
  ],
  [
    { type: "Sequence", normalizers: [nfc, lowercase] },
    { type: "Sequence", normalizers: [nfc, lowercase] },
  ],
  // BERT's normalizer strips accents by default only if it lower-cases itself.
  [
    { ...bert, lowercase: false, strip_accents: null },
    { ...bert, lowercase: true, strip_accents: false },
  ],
  [
    { ...bert, lowercase: true, strip_accents: null },
    { ...bert, lowercase: true, strip_accents: true },
  ],
  [
    { ...bert, lowercase: false, strip_accents: true },
    { ...bert, lowercase: true, strip_accents: true },
  ],
])("lower-cases before the normalizer %j", (normalizer, expected) => {
  expect(lowerCased({ normalizer, model: {} })).toEqual({ normalizer: expected, model: {} });
});

it("leaves a tokenizer.json that is not valid to its reader", () => {
  expect(lowerCased({ normalizer: 1 })).toEqual({ normalizer: 1 });
});
