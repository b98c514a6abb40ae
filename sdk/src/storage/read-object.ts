import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

/**
 * A whole object whose size is not known, or undefined when there is none under `key`.
 *
 * @throws BertEdgeError `storage_unavailable`
 */
export async function readObject(store: ObjectStore, key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  // Not piece.slice(): of a Buffer that is a view.
  const found = await receive(store, key, async (piece) => void pieces.push(new Uint8Array(piece)));
  return found ? new Uint8Array(await new Blob(pieces).arrayBuffer()) : undefined;
}
