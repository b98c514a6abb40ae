import { checkIds, invalid, type Sections } from "../packed-file.ts";
import type { ByteLevelHeader, Numbers } from "../packed-header.ts";
import { placeOf } from "../place-of.ts";

/** Which two tokens become one, and which two do first. */
export interface Merges {
  /** [256]: the token of each byte. */
  readonly byteIds: Numbers;
  /** [tokens on the left + 1]: where the pairs of each begin. */
  readonly rightStart: Numbers;
  /** [pairs]: the token on the right; ascending within those of one on the left. */
  readonly rights: Numbers;
  /** [pairs]: the pair's rank: the smallest is merged first. */
  readonly ranks: Numbers;
  /** [ranks]: the token that a pair becomes. */
  readonly merged: Numbers;
}

/** The rank of two tokens that stay two: larger than all others. */
export const UNMERGED = 2 ** 21;

const damaged = () => invalid("has merges that are damaged");

/**
 * Checks that every byte and every pair has a token of the vocabulary.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openMerges(sections: Sections<ByteLevelHeader>, vocabulary: number): Merges {
  const { byteIds, rightStart, rights, ranks, merged } = sections;
  for (const ids of [byteIds, merged]) checkIds(ids, vocabulary);
  const pairs = rights.length;
  if (
    byteIds.length !== 256 ||
    merged.length > UNMERGED ||
    ranks.length !== pairs ||
    rightStart[rightStart.length - 1] !== pairs
  )
    throw damaged();
  if (!ranks.every((rank) => rank < merged.length) || !rightStart.every((start) => start <= pairs)) throw damaged();
  return { byteIds, rightStart, rights, ranks, merged };
}

/** The rank of two tokens next to each other. */
export function rankOf({ rightStart, rights, ranks }: Merges, left: number, right: number): number {
  const at = placeOf(rights, right, rightStart[left] ?? 0, (rightStart[left + 1] ?? 0) - 1);
  return at < 0 ? UNMERGED : (ranks[at] as number);
}
