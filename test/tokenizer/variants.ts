import { defaultTokenizerJson } from "../fixtures/packed-tokenizers.ts";
import { allKinds } from "./added-kinds.ts";
import { bpeVariants } from "./bpe.ts";
import { byteLevelVariants } from "./byte-level.ts";
import { unigramVariants } from "./unigram.ts";

interface BertJson {
  added_tokens: object[];
  normalizer: object | null;
  pre_tokenizer: object;
  post_processor: object | null;
  model: {
    unk_token: string;
    vocab: Record<string, number>;
    continuing_subword_prefix: string;
    max_input_chars_per_word: number;
  };
}

/** Makes tokens of digits and letters, with ids that need more than 16 bits. Half of the tokens have the prefix ##. */
const moreTokens = () =>
  Object.fromEntries(
    Array.from({ length: 50_000 }, (_, i) => [`${i % 2 ? "##" : ""}${(7919 * i).toString(36)}`, 100_000 + i]),
  );

const sequence = (name: "normalizers" | "pretokenizers", ...parts: object[]) => ({ type: "Sequence", [name]: parts });
const normalized = (change: object) => (json: BertJson) => ({ ...json, normalizer: { ...json.normalizer, ...change } });

/** Changes to the tokenizer of bert-base-uncased. Together they cover all settings of WordPiece tokenizers. */
const changes: Record<string, (json: BertJson) => object> = {
  "as it is": (json) => json,
  cased: normalized({ lowercase: false }),
  "lower, accents kept": normalized({ strip_accents: false }),
  "cased, accents stripped": normalized({ lowercase: false, strip_accents: true }),
  "not cleaned": normalized({ clean_text: false }),
  "ideographs in words": normalized({ handle_chinese_chars: false }),
  "added tokens": (json) => ({ ...json, added_tokens: [...json.added_tokens, ...allKinds] }),
  "added tokens, cased, not cleaned": (json) => ({
    ...normalized({ lowercase: false, clean_text: false })(json),
    added_tokens: [...json.added_tokens, ...allKinds.map((token) => ({ ...token, normalized: !token.normalized }))],
  }),
  "short words, another prefix, nothing around": (json) => ({
    ...json,
    post_processor: null,
    model: {
      ...json.model,
      max_input_chars_per_word: 6,
      continuing_subword_prefix: "@@",
      vocab: Object.fromEntries(Object.entries(json.model.vocab).map(([word, id]) => [word.replace(/^##/, "@@"), id])),
    },
  }),
  "more words than 16 bits count": (json) => ({
    ...json,
    model: { ...json.model, vocab: { ...moreTokens(), ...json.model.vocab } },
  }),
  "words and other characters, decomposed, lower": (json) => ({
    ...json,
    normalizer: sequence("normalizers", { type: "NFD" }, { type: "Lowercase" }, { type: "StripAccents" }),
    pre_tokenizer: { type: "Whitespace" },
  }),
  "words and other characters, no normalizer, added tokens": (json) => ({
    ...json,
    normalizer: null,
    pre_tokenizer: { type: "Whitespace" },
    added_tokens: [...json.added_tokens, ...allKinds],
  }),
  "lower, numbers and punctuation apart": (json) => ({
    ...json,
    normalizer: { type: "Lowercase" },
    pre_tokenizer: sequence(
      "pretokenizers",
      { type: "WhitespaceSplit" },
      { type: "Digits", individual_digits: false },
      { type: "Punctuation", behavior: "Contiguous" },
    ),
  }),
  "decomposed, single digits": (json) => ({
    ...json,
    normalizer: { type: "NFD" },
    pre_tokenizer: sequence(
      "pretokenizers",
      { type: "Digits", individual_digits: true },
      { type: "Punctuation", behavior: "Isolated" },
      { type: "WhitespaceSplit" },
    ),
  }),
  "whole words, accents stripped": ({ model: { vocab, unk_token }, ...json }) => ({
    ...json,
    normalizer: { type: "StripAccents" },
    pre_tokenizer: { type: "Whitespace" },
    model: { type: "WordLevel", vocab, unk_token },
  }),
  "no prefix, BERT's post-processor": (json) => ({
    ...json,
    post_processor: { type: "BertProcessing", sep: ["[SEP]", 102], cls: ["[CLS]", 101] },
    model: { ...json.model, continuing_subword_prefix: "" },
  }),
};

/** Functions that make a tokenizer.json, by name. They cover every kind that can be packed. */
export const variants: Readonly<Record<string, () => object>> = {
  ...Object.fromEntries(
    Object.entries(changes).map(([name, change]) => [name, () => change(defaultTokenizerJson())] as const),
  ),
  ...byteLevelVariants,
  ...bpeVariants,
  ...unigramVariants,
};
