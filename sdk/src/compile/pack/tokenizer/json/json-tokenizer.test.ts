import { describe, expect, it } from "vitest";
import { defaultTokenizerJson } from "#test/fixtures/packed-tokenizers.ts";
import { byteLevelJson } from "#test/fixtures/tokenizer-kinds.ts";
import { createJsonTokenizer } from "../../../../runtime/tokenizer/json-tokenizer.ts";
import { jsonTokenizer } from "./json-tokenizer.ts";

const json = defaultTokenizerJson();
const made = (changes: object) =>
  createJsonTokenizer(jsonTokenizer({ ...json, normalizer: null, ...changes }).json, {});
const tokensOf = (changes: object, text: string) => {
  const { encode, vocabulary } = made(changes);
  return [...encode(text, 99).ids].slice(1, -1).map((id) => vocabulary.spellingOf(id));
};
const split = (regex: string, changes: object = {}) => ({
  pre_tokenizer: { type: "Split", pattern: { Regex: regex }, behavior: "Removed", invert: false, ...changes },
});

describe("jsonTokenizer rewrites what @huggingface/tokenizers reads differently", () => {
  it("splits words at white space, and not at U+FEFF", () => {
    const changes = { pre_tokenizer: { type: "WhitespaceSplit" } };
    expect(tokensOf(changes, "to\u0085be")).toEqual(["to", "be"]);
    expect(tokensOf(changes, "to\ufeffbe")).toEqual(["[UNK]"]);
  });

  it("makes one small sigma of every capital one", () => {
    const normalizer = { type: "Lowercase" };
    const vocab = { ...json.model.vocab, σασ: 40_000, σας: 40_001 };
    const changes = { normalizer, pre_tokenizer: { type: "Whitespace" }, model: { ...json.model, vocab } };
    expect(tokensOf(changes, "ΣΑΣ σας")).toEqual(["σασ", "σας"]);
  });

  it("splits at punctuation by its behavior, and at other delimiters", () => {
    const behaving = (behavior: string) =>
      tokensOf({ normalizer: null, pre_tokenizer: { type: "Punctuation", behavior } }, "to!!be");
    expect(behaving("Isolated")).toEqual(["to", "!", "!", "be"]);
    expect(behaving("Removed")).toEqual(["to", "be"]);
    const changes = { normalizer: null, pre_tokenizer: { type: "CharDelimiterSplit", delimiter: "." } };
    expect(tokensOf(changes, "to.be")).toEqual(["to", "be"]);
  });

  it("takes the content of Replace and Prepend as it is", () => {
    const normalizer = {
      type: "Sequence",
      normalizers: [
        { type: "Replace", pattern: { String: "." }, content: "$&" },
        { type: "Prepend", prepend: "to " },
      ],
    };
    expect(tokensOf({ normalizer, pre_tokenizer: { type: "BertPreTokenizer" } }, "be.")).toEqual([
      "to",
      "be",
      "$",
      "&",
    ]);
  });

  it("gives added tokens the ids that the Rust tokenizers give them, and tells the largest id", () => {
    const token = {
      content: "zzqx",
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: false,
    };
    const { json: rewritten, largestId } = jsonTokenizer({
      ...json,
      normalizer: null,
      added_tokens: [...json.added_tokens, { ...token, id: 7 }],
    });
    expect(largestId).toBe(30_522);
    expect([...createJsonTokenizer(rewritten, {}).encode("zzqx", 9).ids]).toEqual([101, 30_522, 102]);
  });
});

describe("jsonTokenizer refuses by name", () => {
  const bpe = byteLevelJson();
  const word = { content: "zz", single_word: true, lstrip: false, rstrip: false, normalized: true, special: false };
  it.each<[string, object]>([
    ["the normalizer Nmt", { normalizer: { type: "Sequence", normalizers: [{ type: "NFC" }, { type: "Nmt" }] } }],
    ["the normalizer Precompiled", { normalizer: { type: "Precompiled", precompiled_charsmap: "" } }],
    ["the pre-tokenizer UnicodeScripts", { pre_tokenizer: { type: "UnicodeScripts" } }],
    ["Split with the behavior MergedWithNext", split("a", { behavior: "MergedWithNext" })],
    ["Split with a group in its pattern", split("(a)|b")],
    ["BPE with this dropout", { model: { ...bpe.model, dropout: 0.1 } }],
    ["BPE with this fuse_unk", { model: { ...bpe.model, fuse_unk: true } }],
    ["BPE without a token for unknown characters", { model: { ...bpe.model, vocab: { a: 0 }, merges: [] } }],
    ["the model Other", { model: { type: "Other" } }],
    ['the added token "zz" with single_word', { added_tokens: [word] }],
  ])("%s", (what, changes) => {
    expect(() => jsonTokenizer({ ...json, normalizer: null, ...changes })).toThrow(
      expect.objectContaining({ code: "checkpoint_unsupported", message: expect.stringContaining(what) }),
    );
  });
});
