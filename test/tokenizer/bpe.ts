import { once } from "#sdk/artifact/once.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { bytePiece } from "#sdk/runtime/tokenizer/packed/byte-pieces.ts";
import { allKinds } from "./added-kinds.ts";
import { aroundOneText, robertaSpecials } from "./roberta-specials.ts";
import { trainMerges } from "./train-merges.ts";

const specials = robertaSpecials(() => false);
const names = specials.map(({ content }) => content);
const bytes = Array.from({ length: 256 }, (_, byte) => bytePiece(byte));
/** Characters that no text of the training has. */
const others = Array.from("▁éÜß中각🎉\u0301ज्ञ");

/** Learns merges of words that begin with `mark`. A text's blanks are also tokens of several blanks. */
function train(mark: string, more: readonly string[]) {
  const words = calibrationTexts.flatMap((line) => line.match(/\S+/g) ?? []).map((word) => Array.from(mark + word));
  const runs = mark === "" ? [] : ["▁▁", "▁▁▁▁"].flatMap((run) => Array.from({ length: 3 }, () => Array.from(run)));
  const characters = [...new Set(words.flat())];
  const { vocab, merges } = trainMerges([...words, ...runs], [...names, ...more, ...characters, ...others]);
  return { vocab, merges: mark === "" ? merges : ["▁ ▁", "▁▁ ▁▁", ...merges.filter((pair) => !/[^▁ ] ?▁/.test(pair))] };
}

const marked = once(() => {
  const { vocab, merges } = train("▁", bytes);
  for (const run of ["▁▁", "▁▁▁▁"]) vocab[run] ??= Object.keys(vocab).length;
  return { vocab, merges };
});
const plain = once(() => train("", []));

const gemma = () => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: specials as object[],
  normalizer: { type: "Replace", pattern: { String: " " }, content: "▁" } as object | null,
  pre_tokenizer: {
    type: "Split",
    pattern: { String: " " },
    behavior: "MergedWithPrevious",
    invert: false,
  } as object | null,
  post_processor: {
    ...aroundOneText,
    pair: [
      { SpecialToken: { id: "<s>", type_id: 0 } },
      { Sequence: { id: "A", type_id: 0 } },
      { SpecialToken: { id: "</s>", type_id: 0 } },
      { Sequence: { id: "B", type_id: 1 } },
      { SpecialToken: { id: "</s>", type_id: 1 } },
    ],
  } as object | null,
  decoder: {
    type: "Sequence",
    decoders: [{ type: "Replace", pattern: { String: "▁" }, content: " " }, { type: "ByteFallback" }, { type: "Fuse" }],
  } as object | null,
  model: {
    type: "BPE",
    dropout: null,
    unk_token: "<unk>" as string | null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: true,
    byte_fallback: true,
    ignore_merges: false,
    vocab: marked().vocab,
    merges: marked().merges as (string | string[])[],
  },
});

/** Tokenizers of BPE over characters, by name. Each covers different settings. */
export const bpeVariants: Record<string, () => ReturnType<typeof gemma>> = {
  bpe: gemma,
  "bpe, a mark before texts, no splits, added tokens": () => {
    const json = gemma();
    return {
      ...json,
      added_tokens: [...json.added_tokens, ...allKinds.map((token) => ({ ...token, normalized: false }))],
      normalizer: { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, json.normalizer] },
      pre_tokenizer: null,
    };
  },
  "bpe, each mark begins a word, unknown characters fused": () => ({
    ...gemma(),
    normalizer: null,
    pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true },
    model: { ...gemma().model, byte_fallback: false },
  }),
  "bpe, words and other characters, unknown characters apart, tokens that are no merges, added tokens": () => ({
    ...gemma(),
    added_tokens: [...specials, ...allKinds],
    normalizer: null,
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: {
      ...gemma().model,
      byte_fallback: false,
      fuse_unk: false,
      ignore_merges: true,
      vocab: { ...plain().vocab, questions: 70_000, "!!": 70_001, zzz: 70_002 },
      merges: plain().merges,
    },
  }),
  "bpe, lower, a mark before texts, added tokens": () => {
    const json = gemma();
    return {
      ...json,
      added_tokens: [...json.added_tokens, ...allKinds],
      normalizer: {
        type: "Sequence",
        normalizers: [{ type: "NFKC" }, { type: "Lowercase" }, { type: "Prepend", prepend: "▁" }, json.normalizer],
      },
    };
  },
  "bpe, a tab instead of its byte, merges across words, added tokens": () => {
    const json = gemma();
    const { "<0x09>": tab = 0, ...vocab } = json.model.vocab;
    const merges = json.model.merges.toSpliced(100, 0, "s ▁", "s▁ ▁t");
    const crossing = { "s▁": 80_000, "s▁▁t": 80_001 };
    return {
      ...json,
      added_tokens: [...json.added_tokens, ...allKinds.map((token) => ({ ...token, normalized: false }))],
      model: { ...json.model, vocab: { ...vocab, ...crossing, "\t": tab }, merges },
    };
  },
  "bpe, whole texts": () => ({
    ...gemma(),
    normalizer: null,
    pre_tokenizer: null,
    model: { ...gemma().model, vocab: { ...plain().vocab }, byte_fallback: false, merges: plain().merges },
  }),
};
