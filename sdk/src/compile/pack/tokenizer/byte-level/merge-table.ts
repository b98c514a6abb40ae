import { type Merges, UNMERGED } from "../../../../runtime/tokenizer/packed/byte-level/merges.ts";
import { areKnown } from "../are-known.ts";
import { byteCharacters } from "./byte-characters.ts";

/** Larger ids would make a large table: it has a row for each. */
const LARGEST_ID = 2 ** 22;

interface Pair {
  readonly left: number;
  readonly right: number;
  readonly rank: number;
}

/**
 * The merges of `runtime/tokenizer/packed/byte-level/merges.ts`; of the same pair twice, the last counts.
 *
 * @param merges by rank
 * @returns undefined when the vocabulary lacks a byte, or a token that is merged or made: Rust's tokenizers do not load with
 *   such merges
 */
export function mergeTable(
  vocabulary: ReadonlyMap<string, number>,
  merges: readonly (readonly [string, string])[],
): Record<keyof Merges, number[]> | undefined {
  const byteIds = byteCharacters.map((character) => vocabulary.get(character));
  const merged = merges.map(([left, right]) => vocabulary.get(left + right));
  const ends = merges.flat().map((token) => vocabulary.get(token));
  const largest = [...vocabulary.values()].reduce((a, b) => Math.max(a, b), 0);
  const fits =
    new Set(vocabulary.values()).size === vocabulary.size && largest <= LARGEST_ID && merges.length < UNMERGED;
  if (!fits || !areKnown(byteIds) || !areKnown(merged) || !areKnown(ends)) return undefined;

  const pairs = new Map<string, Pair>();
  for (let rank = 0; rank < merges.length; rank++) {
    const [left, right] = [ends[2 * rank] as number, ends[2 * rank + 1] as number];
    pairs.set(`${left} ${right}`, { left, right, rank });
  }
  const sorted = [...pairs.values()].sort((a, b) => a.left - b.left || a.right - b.right);
  const rightStart = [0];
  for (const [at, { left }] of sorted.entries()) while (rightStart.length <= left) rightStart.push(at);
  rightStart.push(sorted.length);
  return {
    byteIds,
    rightStart,
    rights: sorted.map(({ right }) => right),
    ranks: sorted.map(({ rank }) => rank),
    merged,
  };
}
