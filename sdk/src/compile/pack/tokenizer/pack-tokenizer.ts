import { packByteLevel } from "./byte-level/pack-byte-level.ts";
import { packUnigram } from "./unigram/pack-unigram.ts";
import { packWordPiece } from "./word-piece/pack-word-piece.ts";

/**
 * Packs a tokenizer.json into the file that `createPackedTokenizer` reads. To add a kind: write a folder here that packs it
 * and a folder in `runtime/tokenizer/packed/` that reads it, and declare its settings there in `packed-settings.ts`.
 *
 * @returns undefined unless tokenizer.json is a `WordPieceJson`, `ByteLevelJson` or `UnigramJson`
 */
export const packTokenizer = (json: object): Uint8Array<ArrayBuffer> | undefined =>
  packWordPiece(json) ?? packByteLevel(json) ?? packUnigram(json);
