import { packByteLevel } from "./byte-level/pack-byte-level.ts";
import { packUnigram } from "./unigram/pack-unigram.ts";
import { packWordPiece } from "./word-piece/pack-word-piece.ts";

/**
 * Packs a tokenizer.json into the file that `createPackedTokenizer` reads.
 *
 * @returns undefined unless tokenizer.json is a `WordPieceJson`, `ByteLevelJson` or `UnigramJson`
 */
export const packTokenizer = (json: object): Uint8Array<ArrayBuffer> | undefined =>
  packWordPiece(json) ?? packByteLevel(json) ?? packUnigram(json);
