import { sha256Hex } from "#sdk/artifact/sha256.ts";

/**
 * Hashes the token ids of a block's texts: SHA-256 over int32 numbers, which are the number of ids and then the ids of
 * each text. Returns the first 16 hex digits.
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
