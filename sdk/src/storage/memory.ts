import type { ObjectStore, WritableStore } from "./store.ts";

export type { ObjectStore, WritableStore };

/** Keeps objects in a Map: for tests, and for models that are prepared in the same process. */
export function memoryStore(objects = new Map<string, Uint8Array<ArrayBuffer>>()): WritableStore {
  return {
    name: "memory",
    async open(key) {
      const bytes = objects.get(key);
      return bytes && streamOf(bytes);
    },
    // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
    put: async (key, bytes) => void objects.set(key, new Uint8Array(bytes)),
    size: async (key) => objects.get(key)?.length,
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
