import { createUnitMerger } from "../../../../runtime/tokenizer/packed/byte-level/merge-bytes.ts";
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
 * @param bytes tokens of the bytes 0 to 255, or an empty list
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

const bytesOf: ReadonlyMap<string, number> = new Map(byteCharacters.map((character, byte) => [character, byte]));

/** Returns the text of a token of bytes; undefined if its bytes are not UTF-8. */
export function textOfBytes(spelling: string): string | undefined {
  const bytes = Array.from(spelling, (character) => bytesOf.get(character));
  if (!bytes.every((byte) => byte !== undefined)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}

/** Converts the arrays of a merge table to the typed arrays that the runtime reads. */
export const openedMerges = (table: Record<keyof Merges, readonly number[]>): Merges => ({
  byteIds: Uint32Array.from(table.byteIds),
  rightStart: Uint32Array.from(table.rightStart),
  rights: Uint32Array.from(table.rights),
  ranks: Uint32Array.from(table.ranks),
  merged: Uint32Array.from(table.merged),
});

/** Returns a function that merges the bytes of a text. */
export function byteMergerOf(table: Record<keyof Merges, readonly number[]>): (text: string) => number[] {
  const merges = openedMerges(table);
  const merge = createUnitMerger(merges, merges.byteIds);
  const encoder = new TextEncoder();
  return (text) => {
    const bytes = encoder.encode(text);
    const ids: number[] = [];
    merge(bytes, bytes.length, ids);
    return ids;
  };
}

/**
 * Returns text and id of each token that does not result from merging its own text. With `ignore_merges`, a word with this text becomes
 * the token without merging.
 *
 * @param textOf takes a token as the vocabulary spells it, and returns its text; undefined if the token has no text
 * @param merge merges a text and returns the resulting ids
 */
export function wholeTokens(
  vocabulary: ReadonlyMap<string, number>,
  textOf: (spelling: string) => string | undefined,
  merge: (text: string) => readonly number[],
): [text: string, id: number][] {
  return [...vocabulary].flatMap(([spelling, id]): [string, number][] => {
    const text = textOf(spelling);
    if (text === undefined || text === "") return [];
    const merged = merge(text);
    return merged.length === 1 && merged[0] === id ? [] : [[text, id]];
  });
}
