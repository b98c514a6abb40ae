import { templateAround } from "./token-types.ts";

/** Value of a key of tokenizer_config.json; undefined if the key is missing. */
export type Flag = boolean | null | undefined;

/** Input from which a class builds parts. */
export interface Given {
  /** Object with ids, or Unigram's list of pieces with their scores. */
  readonly vocab: unknown;
  readonly merges: unknown;
  /** Normalizer step with SentencePiece's table of characters; undefined if tokenizer.json has none. */
  readonly charsmap: object | undefined;
  /** Post-processor of tokenizer.json. */
  readonly postProcessor: unknown;
  readonly flag: (key: string) => Flag;
  readonly unknownId: number | undefined;
  /** Returns the special token of a key and its id. */
  readonly special: (key: Name) => readonly [token: string, id: number];
  /** Text of the token for unknown characters. */
  readonly unknown: string;
}

export type Name = "bos_token" | "eos_token" | "sep_token" | "cls_token" | "unk_token";

/** A class of transformers 5 that builds its parts of tokenizer.json itself. */
export interface Builder {
  readonly model: "WordPiece" | "BPE" | "Unigram";
  /** Default texts of special tokens that tokenizer_config.json does not name. */
  readonly names: Readonly<Record<Name, string>>;
  readonly build: (given: Given) => Readonly<Record<Part, unknown>>;
}

export const parts = ["normalizer", "pre_tokenizer", "model", "post_processor"] as const;
export type Part = (typeof parts)[number];

const marks = { bos_token: "<s>", eos_token: "</s>", sep_token: "</s>", cls_token: "<s>", unk_token: "<unk>" };
const brackets = {
  ...{ bos_token: "[CLS]", eos_token: "[SEP]", sep_token: "[SEP]", cls_token: "[CLS]" },
  unk_token: "[UNK]",
};

const wordPieces = ({ vocab, unknown, flag }: Given) => ({
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: flag("tokenize_chinese_chars") ?? true,
    strip_accents: flag("strip_accents") ?? null,
    lowercase: flag("do_lower_case") ?? true,
  },
  pre_tokenizer: { type: "BertPreTokenizer" },
  model: {
    ...{ type: "WordPiece", unk_token: unknown, continuing_subword_prefix: "##", max_input_chars_per_word: 100 },
    vocab,
  },
});

const robertaProcessing = ({ special }: Given, trim_offsets: boolean, add_prefix_space: boolean) => ({
  ...{ type: "RobertaProcessing", sep: special("sep_token"), cls: special("cls_token") },
  ...{ trim_offsets, add_prefix_space },
});

/** Unigram over words. `add_prefix_space` says whether a space is put before each word. */
const unigrams = ({ vocab, flag }: Given, unk_id: number) => ({
  pre_tokenizer: sequence([{ type: "WhitespaceSplit" }, metaspace(hasSpace(flag) ? "always" : "never")]),
  model: { type: "Unigram", unk_id, vocab, byte_fallback: false },
});
const hasSpace = (flag: Given["flag"]): boolean => orDefault(flag("add_prefix_space"), true);
const orDefault = (flag: Flag, missing: boolean): boolean => (flag === undefined ? missing : flag === true);
const metaspace = (prepend_scheme: "always" | "never" | "first") => ({
  ...{ type: "Metaspace", replacement: "▁", prepend_scheme, split: true },
});
const sequence = (pretokenizers: readonly object[]) => ({ type: "Sequence", pretokenizers });
const normalizers = (all: readonly (object | false | undefined)[]) => ({
  ...{ type: "Sequence", normalizers: all.filter((each) => each) },
});
const replace = (pattern: object, content: string) => ({ type: "Replace", pattern, content });

const bert: Builder = {
  ...{ model: "WordPiece", names: brackets },
  build: (given) => ({
    ...wordPieces(given),
    post_processor: templateAround(given.special("cls_token"), given.special("sep_token"), {
      ...{ separators: 1, secondType: 1 },
    }),
  }),
};

/** Returns the index of the token for unknown characters in a Unigram's vocabulary; −1 if there is no such token. */
const indexOf = ({ vocab, unknown }: Given, matches: (score: unknown) => boolean): number =>
  (Array.isArray(vocab) ? vocab : []).findIndex((entry) => Object(entry)[0] === unknown && matches(Object(entry)[1]));

const xlmRoberta = (unknownId: (given: Given) => number): Builder => ({
  ...{ model: "Unigram", names: marks },
  build: (given) => ({
    normalizer: given.charsmap ?? null,
    ...unigrams(given, unknownId(given)),
    post_processor: templateAround(given.special("bos_token"), given.special("eos_token"), {
      ...{ separators: 2, secondType: 0 },
    }),
  }),
});

/** Builders by class, as in https://github.com/huggingface/transformers/tree/v5.24.0/src/transformers/models (tokenization_*.py). */
export const tokenizerBuilders: Readonly<Record<string, Builder>> = {
  BertTokenizer: bert,
  DistilBertTokenizer: bert,
  ElectraTokenizer: bert,
  MPNetTokenizer: {
    ...{ model: "WordPiece", names: { ...marks, unk_token: "[UNK]" } },
    build: (given) => ({ ...wordPieces(given), post_processor: robertaProcessing(given, true, false) }),
  },
  ...Object.fromEntries(
    ["RobertaTokenizer", "LongformerTokenizer"].map((name): [string, Builder] => [
      name,
      {
        ...{ model: "BPE", names: marks },
        build(given) {
          const add_prefix_space = given.flag("add_prefix_space") ?? false;
          return {
            normalizer: null,
            pre_tokenizer: { type: "ByteLevel", add_prefix_space, trim_offsets: true, use_regex: true },
            model: {
              ...{ type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: "", end_of_word_suffix: "" },
              ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
              ...{ vocab: given.vocab, merges: given.merges },
            },
            post_processor: robertaProcessing(given, given.flag("trim_offsets") ?? true, add_prefix_space),
          };
        },
      },
    ]),
  ),
  XLMRobertaTokenizer: xlmRoberta(() => 3),
  CamembertTokenizer: xlmRoberta((given) =>
    Math.max(
      indexOf(given, () => true),
      0,
    ),
  ),
  AlbertTokenizer: {
    ...{ model: "Unigram", names: { ...brackets, unk_token: "<unk>" } },
    build: (given) => ({
      normalizer: normalizers([
        ...[replace({ String: "``" }, '"'), replace({ String: "''" }, '"')],
        ...(given.flag("keep_accents") ? [] : [{ type: "NFKD" }, { type: "StripAccents" }]),
        orDefault(given.flag("do_lower_case"), true) && { type: "Lowercase" },
        given.charsmap,
      ]),
      ...unigrams(given, 1),
      post_processor:
        given.postProcessor ??
        templateAround(given.special("cls_token"), given.special("sep_token"), { separators: 1, secondType: 1 }),
    }),
  },
  DebertaV2Tokenizer: {
    ...{ model: "Unigram", names: brackets },
    build(given) {
      const { vocab, flag } = given;
      const index = indexOf(given, (score) => score === 0);
      return {
        normalizer: normalizers([
          orDefault(flag("do_lower_case"), false) && { type: "Lowercase" },
          replace({ Regex: "\\s{2,}|[\\n\\r\\t]" }, " "),
          { type: "NFC" },
          { type: "Strip", strip_left: false, strip_right: true },
        ]),
        pre_tokenizer: sequence([
          ...(flag("split_by_punct") ? [{ type: "Punctuation", behavior: "Isolated" }] : []),
          metaspace(hasSpace(flag) ? "always" : "first"),
        ]),
        model: { type: "Unigram", unk_id: index < 0 ? (given.unknownId ?? 1) : index, vocab, byte_fallback: false },
        post_processor: templateAround(given.special("cls_token"), given.special("sep_token"), {
          ...{ separators: 1, secondType: 1 },
        }),
      };
    },
  },
};
