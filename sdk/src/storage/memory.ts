import type { WritableStore } from "./store.ts";

/** Objects in a Map: for tests and for models built in the same process. */
export function memoryStore(objects = new Map<string, Uint8Array<ArrayBuffer>>()): WritableStore {
  return {
    name: "memory",
    async open(key) {
      const bytes = objects.get(key);
      return bytes && streamOf(bytes);
    },
    // Not bytes.slice(): of a Buffer that is a view.
    put: async (key, bytes) => void objects.set(key, new Uint8Array(bytes)),
    has: async (key) => objects.has(key),
  };
}

/** A stream of one piece, without a copy. */
function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
