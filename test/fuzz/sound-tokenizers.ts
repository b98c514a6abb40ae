import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { tokenizerJson } from "../fixtures/tokenizer-json.ts";
import { bpeJson, byteLevelJson, unigramJson } from "../fixtures/tokenizer-kinds.ts";
import { byteLevelVariants } from "../tokenizer/byte-level.ts";
import { charsmap } from "../tokenizer/charsmap.ts";

export interface SoundTokenizer {
  /** Content of tokenizer.json. */
  readonly json: object;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly vocabulary: number;
}

/** Room for added tokens, which follow the vocabulary. */
const ADDED = 10;

/**
 * Makes a tokenizer of each kind, with few tokens, so that damage also hits other parts.
 *
 * @throws BertEdgeError if one of them cannot be loaded
 */
export const soundTokenizers = (): SoundTokenizer[] =>
  (
    [
      [wordPiece(), 400],
      [wordLevel(), 400],
      [byteLevel(), 262],
      [llama(), 262],
      [bpe(), 400],
      [unigram(), 200],
      [albert(), 200],
    ] as const
  ).map(([json, size]) => {
    const made = { json, packed: packed(json), vocabulary: size + ADDED };
    createPackedTokenizer(made.packed, made.vocabulary).encode("to be", 16);
    return made;
  });

const wordPiece = (): object => JSON.parse(tokenizerJson(400));

function wordLevel(): object {
  const { model, ...json } = JSON.parse(tokenizerJson(400));
  return {
    ...json,
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    model: { type: "WordLevel", vocab: model.vocab, unk_token: model.unk_token },
  };
}

const byteLevel = () => ({ ...byteLevelJson(), ...withTokens(byteLevelJson(), 262) });

/** Words of Llama 3 in parts of texts, and a token that no merges give. */
function llama(): object {
  const json = byteLevel();
  const regex = byteLevelVariants["byte-level, Llama 3's words, tokens that are no merges"]?.() as typeof json;
  const { pretokenizers } = regex.pre_tokenizer as { pretokenizers: object[] };
  return {
    ...json,
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Digits", individual_digits: true }, ...pretokenizers] },
    model: { ...json.model, ignore_merges: true, vocab: { ...json.model.vocab, tobe: 262 } },
  };
}

const bpe = () => ({ ...bpeJson(), ...withTokens(bpeJson(), 400) });

/** Keeps the tokens with small ids. */
function withTokens<T extends ReturnType<typeof byteLevelJson> | ReturnType<typeof bpeJson>>(
  json: T,
  size: number,
): Pick<T, "model"> {
  const vocab = Object.fromEntries(Object.entries(json.model.vocab).filter(([, id]) => id < size));
  const isKnown = (pair: string) =>
    [...pair.split(" "), pair.replace(" ", "")].every((token) => Object.hasOwn(vocab, token));
  const merges = json.model.merges.filter((pair) => typeof pair === "string" && isKnown(pair));
  return { model: { ...json.model, vocab, merges } };
}

function unigram(): object {
  const json = unigramJson();
  const normalizer = {
    type: "Precompiled",
    precompiled_charsmap: Buffer.from(
      charsmap(
        new Map([
          ["\u00a9", "(c)"],
          ["\u0958", "q"],
        ]),
      ),
    ).toString("base64"),
  };
  const added = json.added_tokens.filter((token) => (token as { id: number }).id < 200);
  return { ...json, normalizer, added_tokens: added, model: { ...json.model, vocab: json.model.vocab.slice(0, 200) } };
}

/** Unigram with every kind of normalizer, and with punctuation split off. */
function albert(): object {
  const json = unigram() as { readonly normalizer: object };
  const kinds = ["Nmt", "NFC", "Lowercase", "NFKD", "StripAccents"].map((type) => ({ type }));
  const replace = (pattern: object, content: string) => ({ type: "Replace", pattern, content });
  const normalizers = [
    { type: "Strip", strip_left: true, strip_right: true },
    replace({ String: "``" }, '"'),
    replace({ Regex: String.raw`\s{2,}|[\n\r\t]` }, " "),
    ...kinds,
    json.normalizer,
    replace({ Regex: " {2,}" }, " "),
    { type: "Prepend", prepend: "▁" },
  ];
  const metaspace = { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true };
  return {
    ...json,
    normalizer: { type: "Sequence", normalizers },
    pre_tokenizer: { type: "Sequence", pretokenizers: [{ type: "Punctuation", behavior: "Isolated" }, metaspace] },
  };
}
