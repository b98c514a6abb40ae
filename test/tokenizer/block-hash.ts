import { sha256Hex } from "#sdk/artifact/sha256.ts";

/**
 * Hashes the token ids of a block's texts: the first 16 hex digits of a SHA-256 over int32 numbers. For each text, these
 * are the number of its ids and the ids.
 */
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
