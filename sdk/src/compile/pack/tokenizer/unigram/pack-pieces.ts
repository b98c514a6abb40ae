import { CODE_MASK } from "../../../../runtime/tokenizer/packed/character.ts";
import { areKnown } from "../are-known.ts";
import { codePointPages, isEmpty } from "../code-point-pages.ts";
import { codesOf } from "../codes-of.ts";
import { minimalAutomaton } from "../minimal-automaton.ts";
import { rustNumber } from "./rust-number.ts";
import type { UnigramTokenizer } from "./unigram-tokenizer.ts";

/** How much less than the smallest score that of an unknown character is. */
const UNKNOWN_PENALTY = 10;
const bytePieces = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);

/**
 * The pieces of `runtime/tokenizer/packed/unigram/pieces.ts`; of the same one twice, the last counts.
 *
 * @returns undefined when the unknown one is not there, or one of a byte, or there are more characters than codes
 */
export function packPieces({ vocab, unk_id, byte_fallback }: UnigramTokenizer["model"]) {
  const vocabulary = new Map(vocab.map(([piece], id) => [piece, id]));
  const codes = codesOf([...vocabulary.keys()]);
  const byteIds = byte_fallback ? bytePieces.map((piece) => vocabulary.get(piece)) : [];
  if (unk_id >= vocab.length || codes.size > CODE_MASK || !areKnown(byteIds)) return undefined;

  const scores = Float64Array.from(vocab, ([, score]) => rustNumber(score));
  const copies = ![...codes.keys()].some((character) => isEmpty(character.codePointAt(0) as number));
  const { pageOf, pages } = codePointPages((point) => codes.get(String.fromCodePoint(point)) ?? 0, copies);
  const words = Array.from(vocabulary, ([piece, id]) => ({
    codes: Array.from(piece, (character) => codes.get(character) as number),
    id,
  }));
  return {
    vocabulary,
    unknownScore: scores.reduce((a, b) => Math.min(a, b)) - UNKNOWN_PENALTY,
    sections: { ...minimalAutomaton(words), codePageOf: pageOf, codePages: pages, byteIds, scores },
  };
}
