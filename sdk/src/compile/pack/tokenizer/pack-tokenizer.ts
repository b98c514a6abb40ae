import type { Manifest } from "../../../artifact/manifest.ts";
import type { TokenizerFiles } from "../../checkpoint/model-folder.ts";
import { truncationSide } from "../../checkpoint/tokenizer/tokenizer-sides.ts";
import { packBpe } from "./bpe/pack-bpe.ts";
import { packByteLevel } from "./byte-level/pack-byte-level.ts";
import { cleansTexts } from "./decoding.ts";
import { jsonTokenizer } from "./json/json-tokenizer.ts";
import { packUnigram } from "./unigram/pack-unigram.ts";
import { packWordPiece } from "./word-piece/pack-word-piece.ts";

/**
 * Packs a tokenizer.json into the file that `createPackedTokenizer` reads. To add a kind of tokenizer:
 * - write a folder here with the code that packs the tokenizer
 * - write a folder in `runtime/tokenizer/packed/` with the code that reads the packed file
 * - declare the kind's settings in `runtime/tokenizer/packed/packed-settings.ts`
 *
 * @param config content of tokenizer_config.json
 * @returns undefined if tokenizer.json is not a `WordPieceJson`, `ByteLevelJson`, `BpeJson` or `UnigramJson`, or if its tokens
 *   cannot be packed
 */
export const packTokenizer = (json: object, config: object = {}): Uint8Array<ArrayBuffer> | undefined =>
  packWordPiece(json, config) ?? packByteLevel(json, config) ?? packBpe(json, config) ?? packUnigram(json, config);

/** The tokenizer files of an artifact, and their entry in the manifest. */
export interface ShippedTokenizer {
  readonly manifest: Manifest["tokenizer"];
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** Largest token id; undefined for a packed tokenizer, whose file contains all ids. */
  readonly largestId?: number;
}

/**
 * Returns a tokenizer as one packed file, or as its JSON files if it cannot be packed.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for parts that have no packed form and that @huggingface/tokenizers reads differently
 *   from Hugging Face's Rust tokenizers
 */
export function shipTokenizer({ json, config }: Pick<TokenizerFiles, "json" | "config">): ShippedTokenizer {
  const packed = packTokenizer(json, config);
  const cuts = truncationSide({ json, config }) === "left" ? { truncationSide: "left" as const } : {};
  if (packed) {
    const file = "tokenizer.safetensors";
    return { manifest: { kind: "packed", file, ...cuts }, files: new Map([[file, packed]]) };
  }
  const rewritten = jsonTokenizer(json);
  const manifest = { kind: "json", json: "tokenizer.json", config: "tokenizer_config.json", ...cuts } as const;
  const files = new Map([
    [manifest.json, jsonBytes(rewritten.json)],
    [manifest.config, jsonBytes({ ...config, clean_up_tokenization_spaces: cleansTexts(json, config) })],
  ]);
  return { manifest, files, largestId: rewritten.largestId };
}

const jsonBytes = (value: object): Uint8Array<ArrayBuffer> => new TextEncoder().encode(JSON.stringify(value));
