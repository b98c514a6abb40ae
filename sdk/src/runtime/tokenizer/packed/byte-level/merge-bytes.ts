import type { IntegerArray } from "../packed-arrays.ts";
import { createHeap } from "./heap.ts";
import { type Merges, rankOf, UNMERGED } from "./merges.ts";

/** Factor in the heap's keys: a key is rank · POSITIONS + position. */
const POSITIONS = 2 ** 32;
/** Index of a neighbour that does not exist. */
const NONE = -1;
/** Maximum units of a word whose arrays are kept for the next word. */
const KEPT = 2 ** 16;

/** Units of a word before it is merged: bytes, or ids of tokens. */
export type Units = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/**
 * Appends the token ids of a word to `ids`. The units of the word are the first `length` items of `units`. `starts` receives the
 * position of each token's first unit.
 */
export type UnitMerger = (units: Units, length: number, ids: number[], starts?: number[]) => void;

/**
 * Creates a function that merges the units of a word to tokens. Each step merges the pair of neighbours with the
 * smallest rank. If several pairs have this rank, the step merges the leftmost one. The steps end when no two
 * neighbours merge. `merge_all` does the same in
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/models/bpe/word.rs.
 *
 * @param unitIds token id of each unit. Default: units are token ids
 */
export function createUnitMerger(merges: Merges, unitIds?: IntegerArray): UnitMerger {
  const { merged } = merges;
  const heap = createHeap();
  // The tokens of the word. The index of a token is the position of its first unit. `tokens` has the token ids,
  // `before` and `after` have the indexes of the neighbours, and `ranks` has the rank of each token's pair with the
  // token after it.
  const tokens: number[] = [];
  const before: number[] = [];
  const after: number[] = [];
  const ranks: number[] = [];

  /**
   * Looks up the rank of the pair that begins at `at`, and adds the pair to the heap. Older keys of a changed pair stay
   * in the heap. Such a key is outdated, because its rank differs from the rank in `ranks`.
   */
  const pair = (at: number) => {
    const next = after[at] as number;
    const rank = next === NONE ? UNMERGED : rankOf(merges, tokens[at] as number, tokens[next] as number);
    ranks[at] = rank;
    if (rank !== UNMERGED) heap.push(rank * POSITIONS + at);
  };

  return (units, length, ids, starts) => {
    for (let at = 0; at < length; at++) {
      const unit = units[at] as number;
      tokens[at] = unitIds ? (unitIds[unit] as number) : unit;
      before[at] = at - 1;
      after[at] = at + 1 < length ? at + 1 : NONE;
    }
    for (let at = 0; at < length; at++) pair(at);
    for (let key = heap.pop(); key !== undefined; key = heap.pop()) {
      const at = key % POSITIONS;
      const rank = (key - at) / POSITIONS;
      if (ranks[at] !== rank) continue;
      const gone = after[at] as number;
      const next = after[gone] as number;
      tokens[at] = merged[rank] as number;
      ranks[gone] = UNMERGED;
      after[at] = next;
      if (next !== NONE) before[next] = at;
      if (before[at] !== NONE) pair(before[at] as number);
      pair(at);
    }
    for (let at = 0; at !== NONE; at = after[at] as number) {
      ids.push(tokens[at] as number);
      starts?.push(at);
    }
    if (length > KEPT) for (const each of [tokens, before, after, ranks]) each.length = 0;
  };
}
