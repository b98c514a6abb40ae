import { once } from "#sdk/artifact/once.ts";
import { byteCharacters } from "#sdk/compile/pack/tokenizer/byte-level/merge-table.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { allKinds } from "./added-kinds.ts";
import { robertaSpecials } from "./roberta-specials.ts";
import { trainMerges } from "./train-merges.ts";

const specials = robertaSpecials((content) => content !== "<mask>");

const asBytes = (word: string) => Array.from(new TextEncoder().encode(word), (byte) => byteCharacters[byte] as string);

const trained = once(() =>
  trainMerges(
    calibrationTexts.flatMap((line) => line.match(/ ?\S+/g) ?? []).map(asBytes),
    byteCharacters,
    specials.map(({ content }) => content),
  ),
);

const roberta = () => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: specials as object[],
  normalizer: null as object | null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true } as object,
  post_processor: {
    type: "RobertaProcessing",
    sep: ["</s>", 2],
    cls: ["<s>", 0],
    trim_offsets: true,
    add_prefix_space: false,
  } as object | null,
  decoder: null,
  model: {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: "",
    end_of_word_suffix: "",
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: trained().vocab,
    merges: trained().merges as (string | string[])[],
  },
});

const LETTERS_AND_NUMBERS = String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}`;
const OTHERS = String.raw`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|";
const split = (regex: string, how: object = { behavior: "Isolated", invert: false }) => ({
  type: "Split",
  pattern: { Regex: regex },
  ...how,
});
const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const sequence = (...pretokenizers: object[]) => ({ type: "Sequence", pretokenizers });
/** Tokens that no merges give. */
const whole = Object.fromEntries(
  ["Ġquestions", "Ġthat", "zzz", "Ã©", "123", "!!", "Ċ", "ĠĠ"].map((token, i) => [token, 60_000 + i]),
);

/** Byte-level tokenizers by name. Each covers different settings. */
export const byteLevelVariants: Record<string, () => ReturnType<typeof roberta>> = {
  "byte-level": roberta,
  "byte-level, composed, a space before, nothing around, added tokens": () => {
    const json = roberta();
    return {
      ...json,
      normalizer: { type: "NFC" },
      pre_tokenizer: { ...json.pre_tokenizer, add_prefix_space: true },
      post_processor: null,
      added_tokens: [...json.added_tokens, ...allKinds],
      model: { ...json.model, merges: trained().merges.map((pair) => pair.split(" ")) },
    };
  },
  "byte-level, Llama 3's words, tokens that are no merges": () => {
    const json = roberta();
    return {
      ...json,
      pre_tokenizer: sequence(split(`${CONTRACTIONS}${LETTERS_AND_NUMBERS}{1,3}${OTHERS}`), bytes),
      model: { ...json.model, ignore_merges: true, vocab: { ...trained().vocab, ...whole } },
    };
  },
  "byte-level, Qwen's words, composed, added tokens": () => {
    const json = roberta();
    return {
      ...json,
      normalizer: { type: "NFC" },
      pre_tokenizer: sequence(split(LETTERS_AND_NUMBERS + OTHERS, { behavior: "Removed", invert: true }), bytes),
      added_tokens: [...json.added_tokens, ...allKinds],
    };
  },
  "byte-level in words, single digits, a space before each": () => ({
    ...roberta(),
    pre_tokenizer: sequence(
      { type: "Whitespace" },
      { type: "Digits", individual_digits: true },
      { ...bytes, add_prefix_space: true, use_regex: true },
    ),
  }),
  "byte-level, decomposed by compatibility, lower, stripped, added tokens": () => ({
    ...roberta(),
    normalizer: {
      type: "Sequence",
      normalizers: [
        { type: "Strip", strip_left: true, strip_right: false },
        { type: "NFKC" },
        { type: "Lowercase" },
        { type: "StripAccents" },
      ],
    },
    added_tokens: [...roberta().added_tokens, ...allKinds],
  }),
  "byte-level, numbers and punctuation apart": () => ({
    ...roberta(),
    pre_tokenizer: sequence(
      { type: "Digits", individual_digits: false },
      { type: "Punctuation", behavior: "Contiguous" },
      { ...bytes, use_regex: true },
    ),
  }),
};
