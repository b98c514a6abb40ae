import { indexOfSorted } from "../automaton.ts";
import type { IntegerArray } from "../packed-arrays.ts";
import { checkIds, invalid } from "../packed-file.ts";

/** Pairs of tokens that merge to one token, and their ranks. */
export interface Merges {
  /** [256]: the token id of each byte. Empty for BPE that reads unknown characters as unknown tokens. */
  readonly byteIds: IntegerArray;
  /** [left token ids + 1]: index of the first pair of each left token. */
  readonly rightStart: IntegerArray;
  /** [pairs]: right token of the pair; ascending among the pairs with the same left token. */
  readonly rights: IntegerArray;
  /** [pairs]: rank of the pair; the smallest rank is merged first. */
  readonly ranks: IntegerArray;
  /** [ranks]: token that the pair with this rank becomes. */
  readonly merged: IntegerArray;
}

/** Rank of two tokens that do not merge; larger than all other ranks. */
export const UNMERGED = 2 ** 21;

const damaged = () => invalid("has damaged merges");

/**
 * Checks the sizes of the arrays, and that all token ids are below the vocabulary size.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openMerges(arrays: Merges, vocabularySize: number): Merges {
  const { byteIds, rightStart, rights, ranks, merged } = arrays;
  for (const ids of [byteIds, merged]) checkIds(ids, vocabularySize);
  const pairs = rights.length;
  if (
    (byteIds.length !== 256 && byteIds.length !== 0) ||
    merged.length > UNMERGED ||
    ranks.length !== pairs ||
    rightStart[rightStart.length - 1] !== pairs
  )
    throw damaged();
  if (!ranks.every((rank) => rank < merged.length) || !rightStart.every((start) => start <= pairs)) throw damaged();
  return { byteIds, rightStart, rights, ranks, merged };
}

/** Returns the rank of two neighbouring tokens; `UNMERGED` if they do not merge. */
export function rankOf({ rightStart, rights, ranks }: Merges, left: number, right: number): number {
  const at = indexOfSorted(rights, right, rightStart[left] ?? 0, (rightStart[left + 1] ?? 0) - 1);
  return at < 0 ? UNMERGED : (ranks[at] as number);
}
