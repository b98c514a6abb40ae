import { receive } from "./receive.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

/** Default limit in bytes. The largest such object is a pointer, with a manifest of up to 4 MiB as text. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a whole object of unknown size. Returns undefined when there is no object under `key`.
 *
 * @throws BertEdgeError `storage_unavailable`, also for an object that is larger than `maxBytes`
 */
export async function readObject(
  store: ObjectStore,
  key: string,
  maxBytes = MAX_BYTES,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const found = await receive(store, key, async (piece) => {
    size += piece.length;
    if (size > maxBytes) throw storageError(store.name, key, `the object is larger than ${maxBytes} bytes`);
    // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
    pieces.push(new Uint8Array(piece));
  });
  return found ? new Uint8Array(await new Blob(pieces).arrayBuffer()) : undefined;
}
