import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { tokenizerJson } from "../fixtures/tokenizer-json.ts";
import { byteLevelJson, unigramJson } from "../fixtures/tokenizer-kinds.ts";
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
  [[wordPiece(), 400] as const, [byteLevel(), 262] as const, [unigram(), 200] as const, [albert(), 200] as const].map(
    ([json, size]) => {
      const made = { json, packed: packed(json), vocabulary: size + ADDED };
      createPackedTokenizer(made.packed, made.vocabulary).encode("to be", 16);
      return made;
    },
  );

const wordPiece = (): object => JSON.parse(tokenizerJson(400));

function byteLevel(): object {
  const json = byteLevelJson();
  const vocab = Object.fromEntries(Object.entries(json.model.vocab).filter(([, id]) => id < 262));
  const isKnown = (pair: string) =>
    [...pair.split(" "), pair.replace(" ", "")].every((token) => Object.hasOwn(vocab, token));
  const merges = json.model.merges.filter((pair) => typeof pair === "string" && isKnown(pair));
  return { ...json, model: { ...json.model, vocab, merges } };
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
