import type { WritableStore } from "./store.ts";

/** Objects in a Map: for tests and for models built in the same process. */
export function memoryStore(objects = new Map<string, Uint8Array<ArrayBuffer>>()): WritableStore {
  return {
    name: "memory",
    get: async (key) => objects.get(key)?.slice(),
    // Not bytes.slice(): of a Buffer that is a view.
    put: async (key, bytes) => void objects.set(key, new Uint8Array(bytes)),
    has: async (key) => objects.has(key),
  };
}
