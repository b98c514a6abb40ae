import { assertUnchanged } from "./publish-conflict.ts";
import type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore };

/** Keeps objects in a Map: for tests, and for models that are prepared in the same process. */
export function memoryStore(objects = new Map<string, Uint8Array<ArrayBuffer>>()): ManagedStore {
  const name = "memory";
  const written = new Map<string, Pick<StoredObject, "modified" | "etag">>();
  const describe = (key: string, { length: size }: Uint8Array): StoredObject => ({
    key,
    size,
    ...(written.get(key) ?? { modified: new Date(0), etag: "0" }),
  });
  const find = (key: string) => {
    const bytes = objects.get(key);
    return bytes && describe(key, bytes);
  };
  let writes = 0;
  return {
    name,
    async open(key) {
      const bytes = objects.get(key);
      return bytes && streamOf(bytes);
    },
    async put(key, bytes, { replaces }) {
      assertUnchanged(name, key, find(key), replaces);
      // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
      objects.set(key, new Uint8Array(bytes));
      written.set(key, { modified: new Date(), etag: String(++writes) });
    },
    head: async (key) => find(key),
    async *list(prefix) {
      for (const [key, bytes] of [...objects]) if (key.startsWith(prefix)) yield describe(key, bytes);
    },
    async remove(key, only) {
      if (only && find(key)?.etag !== only.etag) return false;
      return objects.delete(key);
    },
  };
}

/** Returns a stream that delivers `bytes` as one piece, without a copy. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
