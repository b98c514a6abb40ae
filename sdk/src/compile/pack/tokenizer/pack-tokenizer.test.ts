import { describe, expect, it } from "vitest";
import { defaultTokenizerJson } from "#test/fixtures/packed-tokenizers.ts";
import { bpeVariants } from "#test/tokenizer/bpe.ts";
import { byteLevelVariants } from "#test/tokenizer/byte-level.ts";
import { unigramVariants } from "#test/tokenizer/unigram.ts";
import { loadTokenizer } from "../../../runtime/tokenizer/load-tokenizer.ts";
import { packTokenizer, shipTokenizer } from "./pack-tokenizer.ts";

const json = defaultTokenizerJson();
const byteLevel = byteLevelVariants["byte-level"]?.() as ReturnType<(typeof byteLevelVariants)[string]>;

const shipped = (changes: object) => shippedJson({ ...json, ...changes });

async function shippedJson(json: object) {
  const { manifest, files } = shipTokenizer({ json, config: {} });
  const read = async (file: string) => files.get(file) as Uint8Array<ArrayBuffer>;
  const load = () => loadTokenizer({ tokenizer: manifest, vocabulary: 40_000 }, read);
  return { kind: manifest.kind, files: [...files.keys()], load };
}

const addedToken = (content: string, more: object = {}) => ({
  id: 30_522,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: true,
  special: false,
  ...more,
});

describe("shipTokenizer", () => {
  it("packs a WordPiece tokenizer into one file", async () => {
    const { kind, files, load } = await shipped({});
    expect({ kind, files }).toEqual({ kind: "packed", files: ["tokenizer.safetensors"] });
    expect([...(await load()).encode("to be", 9).ids]).toEqual([101, 2000, 2022, 102]);
  });

  const single = [{ SpecialToken: { id: "[MASK]", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }];
  it.each<[string, object]>([
    ["another normalizer", { normalizer: { type: "NFC" } }],
    ["another pre-tokenizer", { pre_tokenizer: { type: "Punctuation", behavior: "MergedWithNext" } }],
    ["white space in words", { pre_tokenizer: { type: "Digits" } }],
    ["a template that names an unknown token", { post_processor: { ...json.post_processor, single } }],
    ["the text twice", { post_processor: { ...json.post_processor, single: [single[1], single[1]] } }],
  ])("does not pack a tokenizer with %s", (_, changes) => {
    expect(packTokenizer({ ...json, ...changes })).toBeUndefined();
  });

  it("does not pack added tokens that are equal or empty after normalization, which Rust's tokenizers refuse", () => {
    const packedWith = (...contents: string[]) =>
      packTokenizer({ ...json, added_tokens: contents.map((each) => addedToken(each)) });
    expect(packedWith("Mill", "mill")).toBeUndefined();
    expect(packedWith("\u0301")).toBeUndefined();
    expect(packedWith("Mill", "mills")).toBeDefined();
  });

  it("ships other kinds of tokenizers as JSON that can be loaded", async () => {
    const normalizer = { type: "Strip", strip_left: true, strip_right: true };
    const { kind, files, load } = await shipped({ normalizer });
    expect({ kind, files }).toEqual({ kind: "json", files: ["tokenizer.json", "tokenizer_config.json"] });
    expect([...(await load()).encode("to be", 9).ids]).toEqual([101, 2000, 2022, 102]);
  });

  it("ignores the ids of added tokens: new ones get the next free id, known ones keep theirs", async () => {
    const added_tokens = [addedToken("zzqx", { id: 7 }), addedToken("mill", { id: 8 }), addedToken("")];
    const { load } = await shipped({ added_tokens });
    expect([...(await load()).encode("zzqx mill", 9).ids]).toEqual([101, 30_522, json.model.vocab.mill, 102]);
  });

  it("packs a byte-level tokenizer", async () => {
    expect((await shippedJson(byteLevel)).kind).toBe("packed");
  });

  const { model, pre_tokenizer } = byteLevel;
  const otherSplit = { type: "Split", pattern: { Regex: ".+" }, behavior: "Isolated", invert: false };
  const { "!": _, ...oneByteLess } = model.vocab;
  it.each<[string, object]>([
    ["another normalizer", { normalizer: { type: "ByteLevel" } }],
    ["another word pattern", { pre_tokenizer: { ...pre_tokenizer, use_regex: false } }],
    ["dropout", { model: { ...model, dropout: 0.1 } }],
    [
      "another pattern of Split",
      { pre_tokenizer: { type: "Sequence", pretokenizers: [otherSplit, { ...pre_tokenizer, use_regex: false }] } },
    ],
    ["no bytes", { pre_tokenizer: { type: "Whitespace" } }],
    ["a prefix inside words", { model: { ...model, continuing_subword_prefix: "##" } }],
    ["a byte without a token", { model: { ...model, vocab: oneByteLess } }],
    ["one id for two tokens", { model: { ...model, vocab: { ...model.vocab, "!!!": 9 } } }],
    ["a merge of an unknown token", { model: { ...model, merges: [...model.merges, "a zzq"] } }],
    ["a merge of three tokens", { model: { ...model, merges: [...model.merges, "a b c"] } }],
  ])("does not pack a byte-level tokenizer with %s", (_, changes) => {
    expect(packTokenizer({ ...byteLevel, ...changes })).toBeUndefined();
  });

  const gemma = bpeVariants.bpe?.() as ReturnType<(typeof bpeVariants)[string]>;
  it("packs BPE over characters", async () => {
    expect((await shippedJson(gemma)).kind).toBe("packed");
  });

  it.each<[string, object]>([
    ["another normalizer", { normalizer: { type: "ByteLevel" } }],
    ["a split at blanks that remain", { normalizer: null }],
    ["tokens of some bytes", { model: { ...gemma.model, vocab: { ...gemma.model.vocab, "<0x41>": undefined } } }],
    ["no unknown token", { model: { ...gemma.model, unk_token: "?!", byte_fallback: false } }],
    ["added tokens that the normalizer makes equal", { added_tokens: [addedToken("a b"), addedToken("a▁b")] }],
    ["another decoder", { decoder: { type: "BPEDecoder", suffix: "</w>" } }],
  ])("does not pack BPE with %s", (_, changes) => {
    expect(packTokenizer({ ...gemma, ...changes })).toBeUndefined();
  });

  const xlmRoberta = unigramVariants.unigram?.() as ReturnType<(typeof unigramVariants)[string]>;
  it("packs a Unigram tokenizer into one file", async () => {
    const { kind, files, load } = await shippedJson(xlmRoberta);
    expect({ kind, files }).toEqual({ kind: "packed", files: ["tokenizer.safetensors"] });
    const ids = [...(await load()).encode("to be", 99).ids];
    expect([ids[0], ids.at(-1)]).toEqual([0, 2]);
    expect(
      ids
        .slice(1, -1)
        .map((id) => xlmRoberta.model.vocab[id]?.[0])
        .join(""),
    ).toBe("▁to▁be");
  });

  // These shipped as JSON, and so could not tell where tokens are.
  it.each(Object.entries(unigramVariants).filter(([name]) => /DeBERTa|ALBERT/.test(name)))(
    "packs a tokenizer that finds the places of tokens: %s",
    async (_, json) => {
      const { kind, load } = await shippedJson(json());
      expect(kind).toBe("packed");
      const { offsets } = (await load()).encodePlaced("To be", 99);
      expect([offsets[2], offsets.at(-3)]).toEqual([0, 5]);
    },
  );

  const metaspace = { type: "Metaspace", replacement: "▁" };
  const punctuation = (behavior: string) => ({
    type: "Sequence",
    pretokenizers: [{ type: "Punctuation", behavior }, metaspace],
  });
  it.each<[string, object]>([
    ["another normalizer", { normalizer: { type: "BertNormalizer" } }],
    ["a damaged charsmap", { normalizer: { type: "Precompiled", precompiled_charsmap: "AAAAAA==" } }],
    [
      "two charsmaps",
      { normalizer: { type: "Sequence", normalizers: [xlmRoberta.normalizer, xlmRoberta.normalizer] } },
    ],
    ["another pattern", { normalizer: { type: "Replace", pattern: { Regex: "``" }, content: '"' } }],
    ["no pre-tokenizer", { pre_tokenizer: null }],
    ["another replacement for blanks", { pre_tokenizer: { ...metaspace, replacement: "_" } }],
    ["a blank before the first word only", { pre_tokenizer: { ...metaspace, prepend_scheme: "first" } }],
    [
      "settings that contradict each other on blanks before words",
      { pre_tokenizer: { ...metaspace, add_prefix_space: false } },
    ],
    ["punctuation at the start of words", { pre_tokenizer: punctuation("MergedWithNext") }],
    ["no unknown token", { model: { ...xlmRoberta.model, unk_id: null } }],
    ["an unknown token outside the vocabulary", { model: { ...xlmRoberta.model, unk_id: 1e6 } }],
    ["bytes without pieces", { model: { ...xlmRoberta.model, byte_fallback: true } }],
  ])("does not pack a Unigram tokenizer with %s", (_, changes) => {
    expect(packTokenizer({ ...xlmRoberta, ...changes })).toBeUndefined();
  });
});
