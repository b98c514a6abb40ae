import { type Merges, UNMERGED } from "../../../../runtime/tokenizer/packed/byte-level/merges.ts";

/** Maximum token id. The table has a row for each id, so larger ids would make the table too large. */
const MAX_ID = 2 ** 22;

/**
 * Ranges of bytes that tokens contain as the character with the same number. For example, "!" (U+0021) stands for the
 * byte 0x21. The characters from U+0100 on stand for all other bytes, as in GPT-2.
 */
const PRINTED = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;

/** Characters that stand for the bytes 0 to 255 in tokens. */
export const byteCharacters: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printed = PRINTED.some(([first, last]) => byte >= first && byte <= last);
    return String.fromCharCode(printed ? byte : next++);
  });
})();

const isId = (id: number | undefined): id is number => id !== undefined;

interface Pair {
  readonly left: number;
  readonly right: number;
  readonly rank: number;
}

/**
 * Builds the arrays of `runtime/tokenizer/packed/byte-level/merges.ts`. If a pair occurs twice, the last one counts.
 *
 * Returns undefined in three cases:
 * - The vocabulary lacks the token of a byte, or a token that a merge reads or produces. Rust's tokenizers refuse such
 *   files too.
 * - Two tokens have the same id.
 * - An id or the number of merges is too large for the table.
 *
 * @param merges pairs of tokens in the order of their ranks
 * @param bytes tokens of the bytes 0 to 255, or nothing
 */
export function mergeTable(
  vocabulary: ReadonlyMap<string, number>,
  merges: readonly (readonly [string, string])[],
  bytes: readonly string[] = byteCharacters,
): Record<keyof Merges, number[]> | undefined {
  const byteIds = bytes.map((character) => vocabulary.get(character));
  const merged = merges.map(([left, right]) => vocabulary.get(left + right));
  const ends = merges.flat().map((token) => vocabulary.get(token));
  const largest = [...vocabulary.values()].reduce((a, b) => Math.max(a, b), 0);
  const fits = new Set(vocabulary.values()).size === vocabulary.size && largest <= MAX_ID && merges.length < UNMERGED;
  if (!fits || !byteIds.every(isId) || !merged.every(isId) || !ends.every(isId)) return undefined;

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
