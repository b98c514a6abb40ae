import { createUnitMerger } from "../../../../runtime/tokenizer/packed/byte-level/merge-bytes.ts";
import type { Merges } from "../../../../runtime/tokenizer/packed/byte-level/merges.ts";
import { byteCharacters } from "./merge-table.ts";

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

/** The arrays of a table of merges, as the runtime reads them. */
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
