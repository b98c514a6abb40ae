import { edgeOf, longestPath, longestToken, START } from "../automaton.ts";
import { numberOf } from "../code-points.ts";
import type { UnigramVocabulary } from "./vocabulary.ts";

/**
 * Appends the token ids of a word to `ids`. The code points of the word are the first `length` items of `points`. After more
 * than `enough` ids, the others are left out. `ends` receives the end of each token's part of the word.
 */
export type PieceSplitter = (
  points: Uint32Array,
  length: number,
  ids: number[],
  enough: number,
  ends?: number[],
) => void;

/** Maximum code points of a word for which the buffers are reused. A longer word gets its own, larger buffers. */
const KEPT = 1024;
const { max, clz32 } = Math;

/**
 * Creates a function that splits a word into the pieces with the largest sum of scores. If several splits have this
 * sum, the one with the longest last piece wins. A run of unknown code points becomes one token. If `byteIds` is not
 * empty, the run becomes the tokens of its UTF-8 bytes instead. `encode_optimized` does the same in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/models/unigram/model.rs.
 *
 * The first piece can depend on the last code point, so all of a word must be read. Four bytes for each code point are kept: its
 * code, and the length of the piece that ends after it.
 */
export function createPieceSplitter({
  codes,
  automaton,
  scores,
  unknown,
  unknownScore,
  byteIds,
}: UnigramVocabulary): PieceSplitter {
  const { edgeStart, labels, targets, skips, accepts, ids: pieceIds } = automaton;
  const encoder = new TextEncoder();
  const longest = longestPath(automaton);
  const Lengths = longest > 0xffff ? Uint32Array : Uint16Array;
  let symbols: Uint16Array;
  // Best split of the word up to each position: `best` has the sum of the scores of its pieces, and `lengths` has the length of its
  // last piece. `best` is a ring buffer, because only the sums that a piece can still extend are needed.
  let lengths: Uint16Array | Uint32Array;
  const best = new Float64Array(2 ** (32 - clz32(max(1, longest))));
  const ring = best.length - 1;
  const makeRoom = (length: number): void => {
    symbols = new Uint16Array(length);
    lengths = new Lengths(length + 1);
  };
  makeRoom(KEPT);

  const reach = (end: number, start: number, score: number): void => {
    if (lengths[end] !== 0 && !(score > (best[end & ring] as number))) return;
    best[end & ring] = score;
    lengths[end] = end - start;
  };

  /** Tries all pieces that begin at `start`. */
  const extend = (start: number, length: number): void => {
    const score = best[start & ring] as number;
    let [state, skipped, isPiece] = [0, 0, false];
    for (let at = start; at < length; at++) {
      const edge = edgeOf(edgeStart, labels, state, symbols[at] as number);
      if (edge < 0) break;
      state = targets[edge] as number;
      skipped += skips[edge] as number;
      if (accepts[state] !== 1) continue;
      reach(at + 1, start, (scores[pieceIds[skipped] as number] as number) + score);
      if (at === start) isPiece = true;
    }
    if (!isPiece) reach(start + 1, start, unknownScore + score);
  };

  const idOf = (start: number, end: number): number => {
    const piece = longestToken(automaton, START, symbols, start, end);
    return piece?.end === end ? piece.id : unknown;
  };

  /** Adds a run of code points that are unknown. */
  const addUnknown = (points: Uint32Array, start: number, end: number, ids: number[]): void => {
    const piece = longestToken(automaton, START, symbols, start, end);
    if (piece?.end === end || byteIds.length === 0) {
      ids.push(piece?.end === end ? piece.id : unknown);
      return;
    }
    for (let at = start; at < end; at++) {
      const bytes = encoder.encode(String.fromCodePoint(points[at] as number));
      for (const byte of bytes) ids.push(byteIds[byte] as number);
    }
  };

  return (points, length, ids, enough, ends) => {
    if (length > KEPT) makeRoom(length);
    const before = ids.length;
    for (let at = 0; at < length; at++) symbols[at] = numberOf(codes, points[at] as number);
    lengths.fill(0, 0, length + 1);
    best[0] = 0;
    for (let at = 0; at < length; at++) extend(at, length);

    // `lengths` leads from the end of each piece to its start. This loop reverses these links, because the ids are
    // appended from the start of the word to its end.
    for (let end = length, next = 0; end >= 0; ) {
      const piece = lengths[end] as number;
      lengths[end] = next;
      if (piece === 0) break;
      next = piece;
      end -= piece;
    }
    for (let at = 0; at < length && ids.length <= enough; ) {
      let end = at + (lengths[at] as number);
      const id = idOf(at, end);
      if (id !== unknown) ids.push(id);
      else {
        for (let next = end; next < length; end = next) {
          next += lengths[end] as number;
          if (idOf(end, next) !== unknown) break;
        }
        addUnknown(points, at, end, ids);
      }
      // The tokens of an unknown run's bytes share its part of the word.
      while (ends && ends.length < ids.length - before) ends.push(end);
      at = end;
    }
    if (length > KEPT) makeRoom(KEPT);
  };
}
