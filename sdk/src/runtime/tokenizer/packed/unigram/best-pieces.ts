import { edgeOf, longestToken, START } from "../automaton.ts";
import { numberOf } from "../code-points.ts";
import type { UnigramVocabulary } from "./vocabulary.ts";

/**
 * Appends the token ids of a word to `ids`. The code points of the word are the first `length` items of `points`. `ends`
 * receives the end of each token's part of the word.
 */
export type PieceSplitter = (points: readonly number[], length: number, ids: number[], ends?: number[]) => void;

/** Marks a position where no piece ends. */
const NONE = -1;
/** Maximum code points of a word for which the buffers are reused. A longer word gets its own, larger buffers. */
const KEPT = 1024;

/**
 * Creates a function that splits a word into the pieces with the largest sum of scores. If several splits have this
 * sum, the one with the longest last piece wins. A run of unknown code points becomes one token. If `byteIds` is not
 * empty, the run becomes the tokens of its UTF-8 bytes instead. `encode_optimized` does the same in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/models/unigram/model.rs.
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
  let symbols: Int32Array;
  // Best split of the word up to each position: `best` has the sum of the scores of its pieces, `starts` has the start
  // of its last piece, and `lasts` has the id of its last piece.
  let best: Float64Array;
  let starts: Int32Array;
  let lasts: Int32Array;
  const makeRoom = (length: number): void => {
    symbols = new Int32Array(length);
    best = new Float64Array(length + 1);
    starts = new Int32Array(length + 1);
    lasts = new Int32Array(length + 1);
  };
  makeRoom(KEPT);

  const reach = (end: number, start: number, score: number, id: number): void => {
    if (starts[end] !== NONE && !(score > (best[end] as number))) return;
    best[end] = score;
    starts[end] = start;
    lasts[end] = id;
  };

  /** Tries all pieces that begin at `start`. */
  const extend = (start: number, length: number): void => {
    const score = best[start] as number;
    let [state, skipped, isPiece] = [0, 0, false];
    for (let at = start; at < length; at++) {
      const edge = edgeOf(edgeStart, labels, state, symbols[at] as number);
      if (edge < 0) break;
      state = targets[edge] as number;
      skipped += skips[edge] as number;
      if (accepts[state] !== 1) continue;
      const id = pieceIds[skipped] as number;
      reach(at + 1, start, (scores[id] as number) + score, id);
      if (at === start) isPiece = true;
    }
    if (!isPiece) reach(start + 1, start, unknownScore + score, unknown);
  };

  const addUnknown = (points: readonly number[], start: number, end: number, ids: number[]): void => {
    const piece = longestToken(automaton, START, symbols, start, end);
    if (piece?.end === end) ids.push(piece.id);
    else if (byteIds.length === 0) ids.push(unknown);
    else {
      const bytes = encoder.encode(
        points
          .slice(start, end)
          .map((point) => String.fromCodePoint(point))
          .join(""),
      );
      for (const byte of bytes) ids.push(byteIds[byte] as number);
    }
  };

  return (points, length, ids, ends) => {
    if (length > KEPT) makeRoom(length);
    const before = ids.length;
    for (let at = 0; at < length; at++) symbols[at] = numberOf(codes, points[at] as number);
    starts.fill(NONE, 1, length + 1);
    for (let at = 0; at < length; at++) extend(at, length);

    // `starts` leads from the end of each piece to its start. This loop reverses these links, because the ids are
    // appended from the start of the word to its end.
    for (let end = length, next = NONE; end !== NONE; ) {
      const start = end > 0 ? (starts[end] as number) : NONE;
      starts[end] = next;
      [next, end] = [end, start];
    }
    for (let at = 0; at < length; ) {
      let end = starts[at] as number;
      const id = lasts[end] as number;
      if (id !== unknown) ids.push(id);
      else {
        while (end < length && lasts[starts[end] as number] === unknown) end = starts[end] as number;
        addUnknown(points, at, end, ids);
      }
      // The tokens of an unknown run's bytes share its part of the word.
      while (ends && ends.length < ids.length - before) ends.push(end);
      at = end;
    }
    if (length > KEPT) makeRoom(KEPT);
  };
}
