import { sha256Hex } from "#sdk/artifact/sha256.ts";

/**
 * Hashes the token ids of a block's texts with SHA-256. The hashed bytes are int32 numbers: for each text, the number
 * of its ids and then the ids. Returns the first 16 hex digits.
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
