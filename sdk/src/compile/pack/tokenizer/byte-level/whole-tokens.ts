import { createByteMerger } from "../../../../runtime/tokenizer/packed/byte-level/merge-bytes.ts";
import type { Merges } from "../../../../runtime/tokenizer/packed/byte-level/merges.ts";
import { byteCharacters } from "./merge-table.ts";

const bytesOf: ReadonlyMap<string, number> = new Map(byteCharacters.map((character, byte) => [character, byte]));

/**
 * Returns the tokens that merging does not give for their own text, with their ids. With `ignore_merges`, a word that is such a token
 * becomes this token.
 */
export function wholeTokens(
  vocabulary: ReadonlyMap<string, number>,
  table: Record<keyof Merges, number[]>,
): [text: string, id: number][] {
  const merge = createByteMerger({
    byteIds: Uint32Array.from(table.byteIds),
    rightStart: Uint32Array.from(table.rightStart),
    rights: Uint32Array.from(table.rights),
    ranks: Uint32Array.from(table.ranks),
    merged: Uint32Array.from(table.merged),
  });
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return [...vocabulary].flatMap(([spelling, id]): [string, number][] => {
    const bytes = Array.from(spelling, (character) => bytesOf.get(character));
    if (bytes.length === 0 || !bytes.every((byte) => byte !== undefined)) return [];
    const merged: number[] = [];
    merge(Uint8Array.from(bytes), bytes.length, merged);
    if (merged.length === 1 && merged[0] === id) return [];
    try {
      return [[decoder.decode(Uint8Array.from(bytes)), id]];
    } catch {
      // No word has such bytes.
      return [];
    }
  });
}
