import { defaultTokenizerJson } from "../fixtures/packed-tokenizers.ts";
import { normalizingVariants } from "./unigram.ts";
import { variants } from "./variants.ts";

const cls = ["[CLS]", 101];
const sep = ["[SEP]", 102];
const byteLevel = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
const special = (id: string, type_id: number) => ({ SpecialToken: { id, type_id } });
const text = (id: "A" | "B", type_id: number) => ({ Sequence: { id, type_id } });
const { post_processor: template } = defaultTokenizerJson();
const withPair = (...pair: object[]) => ({ ...template, pair });

/** Post-processors for the tokenizer of bert-base-uncased. Together they cover the templates for two texts. */
const processors: Record<string, object> = {
  "BERT's template": template,
  "BERT's post-processor": { type: "BertProcessing", cls, sep },
  "RoBERTa's post-processor": { type: "RobertaProcessing", cls, sep, trim_offsets: true, add_prefix_space: true },
  "a ByteLevel post-processor": byteLevel,
  "a sequence of post-processors": { type: "Sequence", processors: [byteLevel, template] },
  "an empty sequence of post-processors": { type: "Sequence", processors: [] },
  "token types that change inside the separator": withPair(
    special("[CLS]", 0),
    text("A", 0),
    special("[SEP]", 0),
    special("[SEP]", 1),
    text("B", 1),
    special("[SEP]", 1),
  ),
  "token types that change after the first text": withPair(text("A", 0), special("[SEP]", 1), text("B", 1)),
  "nothing between the texts": withPair(special("[CLS]", 0), text("A", 0), text("B", 1), special("[SEP]", 1)),
  "several ids for a special token": {
    ...withPair(special("[CLS]", 0), text("A", 0), special("two", 0), text("B", 0)),
    special_tokens: { ...template.special_tokens, two: { id: "two", ids: [102, 103], tokens: ["[SEP]", "[MASK]"] } },
  },
};

/** Functions that make a tokenizer.json with each template for two texts, by name. */
export const templateVariants: Readonly<Record<string, () => object>> = Object.fromEntries(
  Object.entries(processors).map(([name, post_processor]) => [
    name,
    () => ({ ...defaultTokenizerJson(), post_processor }),
  ]),
);

/** Further tokenizers that are like `normalizingVariants`: most of their tokens are single bytes. */
const ofBytes = [
  "byte-level, Qwen's words, composed, added tokens",
  "byte-level, decomposed by compatibility, lower, stripped, added tokens",
  "bpe",
  "bpe, lower, a mark before texts, added tokens",
  "bpe, a tab instead of its byte, merges across words, added tokens",
];

/**
 * Functions that make a tokenizer.json, by name: every kind that can be packed, and every template for two texts. Normalizers do not
 * change how pairs are made, and Rust keeps what truncation removes: gigabytes, where each byte is a token.
 */
export const pairVariants: Readonly<Record<string, () => object>> = {
  ...Object.fromEntries(
    Object.entries(variants).filter(([name]) => !Object.hasOwn(normalizingVariants, name) && !ofBytes.includes(name)),
  ),
  ...templateVariants,
};
