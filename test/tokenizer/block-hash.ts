import { sha256Hex } from "#sdk/artifact/sha256.ts";

/** Hashes the ids of a block's texts: 16 digits of the SHA-256 of, for each text, its number of ids and its ids, as int32. */
export async function blockHash(ids: readonly ArrayLike<number>[]): Promise<string> {
  const numbers = new Int32Array(ids.reduce((sum, { length }) => sum + 1 + length, 0));
  let end = 0;
  for (const each of ids) {
    numbers[end] = each.length;
    numbers.set(each, end + 1);
    end += 1 + each.length;
  }
  return (await sha256Hex(new Uint8Array(numbers.buffer))).slice(0, 16);
}
