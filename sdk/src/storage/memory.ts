import type { ManagedStore, ObjectStore, StoredObject, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, StoredObject, WritableStore };

/** Keeps objects in a Map: for tests, and for models that are prepared in the same process. */
export function memoryStore(objects = new Map<string, Uint8Array<ArrayBuffer>>()): ManagedStore {
  const written = new Map<string, Date>();
  return {
    name: "memory",
    async open(key) {
      const bytes = objects.get(key);
      return bytes && streamOf(bytes);
    },
    // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
    async put(key, bytes) {
      objects.set(key, new Uint8Array(bytes));
      written.set(key, new Date());
    },
    size: async (key) => objects.get(key)?.length,
    async *list(prefix) {
      for (const [key, { length: size }] of [...objects]) {
        if (key.startsWith(prefix)) yield { key, size, modified: written.get(key) ?? new Date(0) };
      }
    },
    remove: async (key) => void objects.delete(key),
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
