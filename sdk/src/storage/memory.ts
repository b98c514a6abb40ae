import { sha256Hex } from "../artifact/sha256.ts";
import { withCheckedKeys } from "./checked-keys.ts";
import { assertUnchanged, isSameWrite } from "./publish-conflict.ts";
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
  return withCheckedKeys({
    name,
    async open(key, _, range) {
      const bytes = objects.get(key);
      return bytes && streamOf(range ? bytes.subarray(range.begin, range.end) : bytes);
    },
    async put(key, bytes, { replaces }) {
      // Copies the bytes. `slice` is not enough: on a Node Buffer it returns a view.
      const copy = new Uint8Array(bytes);
      // Equal contents have equal etags, as in S3 and R2. With an etag for each write, tests would miss errors of callers.
      const etag = await sha256Hex(copy);
      assertUnchanged(name, key, find(key), replaces);
      const earliest = (written.get(key)?.modified.getTime() ?? 0) + 1;
      objects.set(key, copy);
      written.set(key, { modified: new Date(Math.max(Date.now(), earliest)), etag });
    },
    head: async (key) => find(key),
    async *list(prefix) {
      for (const [key, bytes] of [...objects]) if (key.startsWith(prefix)) yield describe(key, bytes);
    },
    async remove(key, only) {
      if (only && !isSameWrite(find(key), only)) return false;
      return objects.delete(key);
    },
  });
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
