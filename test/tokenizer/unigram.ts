import { once } from "#sdk/artifact/once.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { allKinds } from "./added-kinds.ts";
import { charsmap, nmtNfkc } from "./charsmap.ts";
import { aroundOneText, robertaSpecials } from "./roberta-specials.ts";

const PIECES = 3000;
const LONGEST_PIECE = 8;

type Piece = readonly [piece: string, score: number];

const specials = robertaSpecials((content) => content === "<mask>");

/** Returns the most frequent parts of words in the calibration texts. Scores are float32, as in SentencePiece. */
function train(): Piece[] {
  const words = new Map<string, number>();
  for (const word of calibrationTexts.flatMap((line) => line.match(/\S+/g) ?? [])) {
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  for (const [word, times] of words) {
    const characters = Array.from(`▁${word}`);
    for (let start = 0; start < characters.length; start++) {
      for (let end = start + 1; end <= Math.min(characters.length, start + LONGEST_PIECE); end++) {
        const part = characters.slice(start, end).join("");
        counts.set(part, (counts.get(part) ?? 0) + times);
      }
    }
  }
  const frequent = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, PIECES);
  const total = frequent.reduce((sum, [, count]) => sum + count, 0);
  return frequent.map(([part, count]) => [part, Math.fround(Math.log(count / total))]);
}

/**
 * Pieces for special cases: splits whose scores have equal sums, unknown characters between known characters, and
 * scores near the score of an unknown character.
 */
const odd: readonly Piece[] = [
  ["", -1],
  ["▁▁", -9.25],
  ["aa", -5.123456954956055],
  ["aaa", -7.684999942779541],
  ["aaaa", -10.24691390991211],
  ["aba", -8.1],
  ["b▁a", -3],
  ["a", -2.561728477478027],
  ["zz", -6],
  ["zzzz", -30],
  ["qzz", -5.5],
  ["e\u0301", -7],
  ["é", -7.5],
  ["中", -8],
  ["각", -9],
  ["\u1100\u1161", -9.5],
  ["🎉", -8.5],
  ["👍🏽", -8.75],
  ["क्", -7.75],
  ["\u0300", -11],
  [" b", -3.5],
  ["<0x41>", -6.5],
];

const trained = once((): readonly Piece[] => [
  ...specials.slice(0, 4).map(({ content }): Piece => [content, 0]),
  ...train(),
  ...odd,
  ["<mask>", 0],
]);

/** Returns a function that makes a Precompiled normalizer. Building its charsmap takes a quarter of a second. */
function precompiled(results: () => ReadonlyMap<string, string>): () => object {
  const base64 = once(() => Buffer.from(charsmap(results())).toString("base64"));
  return () => ({ type: "Precompiled", precompiled_charsmap: base64() });
}
const metaspace = { type: "Metaspace", replacement: "▁", add_prefix_space: true };
const collapse = (content: string) => ({ type: "Replace", pattern: { Regex: " {2,}" }, content });

/** Charsmap keys from every grapheme class, with their results. The results show where graphemes begin. */
const oddKeys = new Map([
  ["\u0600", "<p>"],
  ["\u0605", ""],
  ["\u0915", "k"],
  ["\u0958", "q"],
  ["\u1100", "l"],
  ["\u1161", "v"],
  ["\u11a8", "t"],
  ["\uac00", "g"],
  ["\uac01", "h"],
  ["\u00a9", "(c)"],
  ["\u2764", "<3"],
  ["\u{1f1e8}", "C"],
  ["\u{1f600}", ":)"],
  ["\u0302", "^"],
  ["\u200d", "+"],
]);

const nmtNfkcMap = precompiled(() => nmtNfkc());
const foldingMap = precompiled(() => nmtNfkc(true));
const oddMap = precompiled(() => new Map([...nmtNfkc(), ...oddKeys]));

const xlmRoberta = () => ({
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: specials as object[],
  normalizer: nmtNfkcMap() as object | null,
  pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "WhitespaceSplit" }, metaspace] } as object,
  post_processor: {
    ...aroundOneText,
    pair: [
      { SpecialToken: { id: "<s>", type_id: 0 } },
      { Sequence: { id: "A", type_id: 0 } },
      { SpecialToken: { id: "</s>", type_id: 0 } },
      { SpecialToken: { id: "</s>", type_id: 0 } },
      { Sequence: { id: "B", type_id: 0 } },
      { SpecialToken: { id: "</s>", type_id: 0 } },
    ],
  } as object | null,
  decoder: null,
  model: { type: "Unigram", unk_id: 3, vocab: trained(), byte_fallback: false },
});

const bytePieces = Array.from(
  { length: 256 },
  (_, byte): Piece => [`<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`, 0],
);
const manyPieces = once(() => Array.from({ length: 70_000 }, (_, i): Piece => [(7919 * i).toString(36), -12 - i / 7]));

const normalizer = (type: string) => ({ type });
const replace = (from: string, content: string) => ({ type: "Replace", pattern: { String: from }, content });
const strip = (left: boolean, right: boolean) => ({ type: "Strip", strip_left: left, strip_right: right });
const always = { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true };

/** Makes a tokenizer whose ids show each character of a normalized text: characters that no piece has become bytes. */
const normalizing = (normalizers: readonly object[], preTokenizer: object, added: readonly object[] = []) => {
  const json = xlmRoberta();
  return {
    ...json,
    added_tokens: [...json.added_tokens, ...added],
    normalizer: { type: "Sequence", normalizers },
    pre_tokenizer: preTokenizer,
    model: { ...json.model, vocab: [...trained(), ...bytePieces], byte_fallback: true },
  };
};

/** Unigram tokenizers with each kind of normalizer, by name. */
export const normalizingVariants: Record<string, () => ReturnType<typeof xlmRoberta>> = {
  "unigram, as transformers 4 writes DeBERTa-v2, added tokens": () =>
    normalizing(
      [strip(true, true), nmtNfkcMap(), collapse(" ")],
      { type: "Sequence", pretokenizers: [always] },
      allKinds,
    ),
  "unigram, as transformers 5 writes DeBERTa-v2, in lower case": () =>
    normalizing(
      [
        normalizer("Lowercase"),
        { type: "Replace", pattern: { Regex: String.raw`\s{2,}|[\n\r\t]` }, content: " " },
        normalizer("NFC"),
        strip(false, true),
      ],
      { type: "Sequence", pretokenizers: [always] },
    ),
  "unigram, ALBERT, added tokens": () =>
    normalizing(
      [
        replace("``", '"'),
        replace("''", '"'),
        normalizer("NFKD"),
        normalizer("StripAccents"),
        normalizer("Lowercase"),
        foldingMap(),
        collapse(" "),
      ],
      always,
      allKinds,
    ),
  "unigram, NFKC": () =>
    normalizing([normalizer("NFKC")], {
      type: "Sequence",
      pretokenizers: [{ type: "WhitespaceSplit" }, { ...always, split: false }],
    }),
  "unigram, Nmt, NFKC and lower case, a character in front": () =>
    normalizing(
      [
        normalizer("Nmt"),
        normalizer("NFKC"),
        normalizer("Lowercase"),
        collapse(" "),
        { type: "Prepend", prepend: "▁▁a" },
      ],
      always,
    ),
  "unigram, NFD, other keys, texts replaced, nothing in front": () =>
    normalizing(
      [
        normalizer("NFD"),
        oddMap(),
        replace("e\u0301", "e"),
        replace(" ", "▁"),
        replace("😀", "..."),
        strip(true, false),
      ],
      { ...metaspace, add_prefix_space: false, prepend_scheme: "never" },
    ),
  "unigram, punctuation split off, added tokens": () =>
    normalizing(
      [normalizer("Lowercase"), strip(true, true), nmtNfkcMap(), collapse(" ")],
      { type: "Sequence", pretokenizers: [{ type: "Punctuation", behavior: "Isolated" }, always] },
      allKinds,
    ),
};

/** Unigram tokenizers by name. Each covers different settings. */
export const unigramVariants: Record<string, () => ReturnType<typeof xlmRoberta>> = {
  unigram: xlmRoberta,
  "unigram, whole texts, blanks at the end and side by side, added tokens": () => {
    const json = xlmRoberta();
    return {
      ...json,
      added_tokens: [...json.added_tokens, ...allKinds],
      normalizer: {
        type: "Sequence",
        normalizers: [foldingMap(), { type: "Strip", strip_left: false, strip_right: true }, collapse("▁")],
      },
      pre_tokenizer: { ...metaspace, prepend_scheme: "always", split: true },
    };
  },
  "unigram, bytes, unknown pieces, nothing in front or around, not split, no normalizer, added tokens": () => {
    const json = xlmRoberta();
    return {
      ...json,
      added_tokens: [...json.added_tokens, ...allKinds.map((token) => ({ ...token, normalized: !token.normalized }))],
      normalizer: null,
      pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "never", split: false },
      post_processor: null,
      model: {
        ...json.model,
        unk_id: trained().findIndex(([piece]) => piece === "zz"),
        vocab: [...trained(), ...bytePieces],
        byte_fallback: true,
      },
    };
  },
  "unigram, other keys, stripped first, pieces twice, more than 16 bits count": () => {
    const json = xlmRoberta();
    const again = trained()
      .slice(40, 400)
      .map(([piece, score]): Piece => [piece, score + 0.1]);
    return {
      ...json,
      normalizer: {
        type: "Sequence",
        normalizers: [{ type: "Strip", strip_left: true, strip_right: true }, oddMap(), collapse(" ")],
      },
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [{ type: "WhitespaceSplit" }, { ...metaspace, prepend_scheme: "always", split: false }],
      },
      model: { ...json.model, vocab: [...trained(), ...again, ...manyPieces()] },
    };
  },
  ...normalizingVariants,
};
