import { packByteLevel } from "./byte-level/pack-byte-level.ts";
import { packWordPiece } from "./pack-word-piece.ts";
import { packUnigram } from "./unigram/pack-unigram.ts";

/**
 * A tokenizer.json as one file that `createPackedTokenizer` reads in place.
 *
 * @returns undefined for tokenizers of other kinds than `BertTokenizer`, `ByteLevelTokenizer` and `UnigramTokenizer`
 */
export const packTokenizer = (json: object): Uint8Array<ArrayBuffer> | undefined =>
  packWordPiece(json) ?? packByteLevel(json) ?? packUnigram(json);
