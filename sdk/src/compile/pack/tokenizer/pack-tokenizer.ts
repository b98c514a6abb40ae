import { packBpe } from "./bpe/pack-bpe.ts";
import { packByteLevel } from "./byte-level/pack-byte-level.ts";
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
