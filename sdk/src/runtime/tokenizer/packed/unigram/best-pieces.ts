import { edgeOf, longestWord, START } from "../automaton.ts";
import { numberOf } from "../code-points.ts";
import type { Pieces } from "./pieces.ts";

/** Appends the ids of the first `length` code points. */
export type BestPieces = (points: readonly number[], length: number, ids: number[]) => void;

/** Nothing leads to this place. */
const NONE = -1;
/** Code points of words for which there is always room; what longer ones need is not kept. */
const KEPT = 1024;

/**
 * Cuts code points into the pieces whose scores have the largest sum; of equal ones, those whose last piece is the longest.
 * Unknown code points side by side are one. As `encode_optimized` does in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/models/unigram/model.rs
 */
export function createBestPieces({ codes, automaton, scores, unknown, unknownScore, byteIds }: Pieces): BestPieces {
  const { edgeStart, labels, targets, skips, accepts, ids: pieceIds } = automaton;
  const encoder = new TextEncoder();
  let symbols: Int32Array;
  // Of the best pieces up to each place: their score, where the last of them begins, and its id.
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

  /** Follows the automaton from `start` on. */
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
    const piece = longestWord(automaton, START, symbols, start, end);
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

  return (points, length, ids) => {
    if (length > KEPT) makeRoom(length);
    for (let at = 0; at < length; at++) symbols[at] = numberOf(codes, points[at] as number);
    starts.fill(NONE, 1, length + 1);
    for (let at = 0; at < length; at++) extend(at, length);

    // Links are turned round, to go through them from the beginning.
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
      at = end;
    }
    if (length > KEPT) makeRoom(KEPT);
  };
}
