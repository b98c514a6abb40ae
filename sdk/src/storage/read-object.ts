import type { BertEdgeError } from "../artifact/error.ts";
import { receive } from "./receive.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

/**
 * Reads a whole object of unknown size. Returns undefined when there is no object under `key`.
 *
 * @throws BertEdgeError `storage_unavailable`, also for an object that is larger than `maxBytes`
 */
export async function readObject(
  store: ObjectStore,
  key: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const found = await receive(store, key, async (piece) => {
    size += piece.length;
    if (size > maxBytes) throw tooLarge(store.name, key, maxBytes);
    // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
    pieces.push(new Uint8Array(piece));
  });
  return found ? new Uint8Array(await new Blob(pieces).arrayBuffer()) : undefined;
}

/** Makes the error for an object that is not read, because it is larger than any valid object of its kind. */
const tooLarge = (store: string, key: string, maxBytes: number): BertEdgeError =>
  storageError(store, key, `the object is larger than ${maxBytes} bytes`, {
    hint: "Put the right object under this key: the present one is damaged, or of another kind.",
  });
