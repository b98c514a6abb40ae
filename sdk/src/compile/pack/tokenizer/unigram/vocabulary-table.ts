import { CODE_MASK } from "../../../../runtime/tokenizer/packed/automaton.ts";
import { bytePiece } from "../../../../runtime/tokenizer/packed/byte-pieces.ts";
import { codePointPages, pagesWith } from "../code-point-pages.ts";
import { codesOfCharacters, minimalAutomaton } from "../minimal-automaton.ts";
import type { UnigramJson } from "./unigram-json.ts";

/** Difference between the smallest score in the vocabulary and the score of an unknown character, as in SentencePiece. */
const UNKNOWN_PENALTY = 10;
const bytePieces = Array.from({ length: 256 }, (_, byte) => bytePiece(byte));

/**
 * Builds the arrays of `runtime/tokenizer/packed/unigram/vocabulary.ts`. If a piece occurs twice, the last one counts.
 *
 * @returns undefined if the unknown piece or the piece of a byte is missing, or if there are too many characters for
 *   16-bit codes
 */
export function vocabularyTable({ vocab, unk_id, byte_fallback }: UnigramJson["model"]) {
  const vocabulary = new Map(vocab.map(([piece], id) => [piece, id]));
  const codes = codesOfCharacters([...vocabulary.keys()]);
  const byteIds = byte_fallback ? bytePieces.map((piece) => vocabulary.get(piece)) : [];
  if (unk_id >= vocab.length || codes.size > CODE_MASK || !byteIds.every((id) => id !== undefined)) return undefined;

  const scores = Float64Array.from(vocab, ([, score]) => rustNumber(score));
  const coded = pagesWith(Array.from(codes.keys(), (character) => character.codePointAt(0) as number));
  const codeOf = (point: number) => codes.get(String.fromCodePoint(point)) ?? 0;
  const { pageOf, pages } = codePointPages(codeOf, (first) => !coded.has(first));
  const tokens = Array.from(vocabulary, ([piece, id]) => ({
    codes: Array.from(piece, (character) => codes.get(character) as number),
    id,
  }));
  return {
    vocabulary,
    unknownScore: scores.reduce((a, b) => Math.min(a, b)) - UNKNOWN_PENALTY,
    arrays: { ...minimalAutomaton(tokens), codePageOf: pageOf, codePages: pages, byteIds, scores },
  };
}

/** Maximum exponent of a power of ten in float64. */
const MAX_EXPONENT = 308;
const ten = (power: number): number => Number(`1e${power}`);

/**
 * Returns the float64 number that serde_json reads from a number's shortest JSON text. serde_json reads all digits as
 * one rounded integer, and multiplies or divides this integer by a power of ten. The result can be one float64 above or
 * below the correct number. This matters for words with two splits of equal score: another split can win.
 *
 * https://github.com/serde-rs/json/blob/master/src/de.rs, `f64_from_parts`
 */
export function rustNumber(value: number): number {
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const [whole, fraction = ""] = digits.split(".") as [string, string?];
  const significand = Number(whole + fraction);
  const power = Number(exponent) - fraction.length;
  if (power >= 0) return significand * ten(power);
  return significand / ten(Math.min(-power, MAX_EXPONENT)) / ten(Math.max(-power - MAX_EXPONENT, 0));
}
