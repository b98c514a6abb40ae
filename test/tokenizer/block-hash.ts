import { sha256Hex } from "../../sdk/src/artifact/sha256.ts";

/** What stands for the ids of a block's texts: the first 16 digits of the SHA-256 of each text's number of ids and ids, as int32. */
export async function blockHash(ids: readonly ArrayLike<number>[]): Promise<string> {
  const numbers = Int32Array.from(ids.flatMap((each) => [each.length, ...Array.from(each)]));
  return (await sha256Hex(new Uint8Array(numbers.buffer))).slice(0, 16);
}
