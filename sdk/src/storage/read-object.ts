import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

/**
 * Reads a whole object of unknown size. Returns undefined when there is no object under `key`.
 *
 * @throws BertEdgeError `storage_unavailable`
 */
export async function readObject(store: ObjectStore, key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
  const found = await receive(store, key, async (piece) => void pieces.push(new Uint8Array(piece)));
  return found ? new Uint8Array(await new Blob(pieces).arrayBuffer()) : undefined;
}
