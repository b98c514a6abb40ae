import { withDeadline } from "../artifact/with-deadline.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore } from "./store.ts";

/** The part of a Workers R2 bucket binding that is used. */
export interface R2Bucket {
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
}

/** Reads through a Workers R2 binding. `prefix` is put before every key; `timeoutMs` is for a whole object. */
export function r2Store(
  bucket: R2Bucket,
  { prefix = "", timeoutMs = 30_000 }: { prefix?: string; timeoutMs?: number } = {},
): ObjectStore {
  async function read(key: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const object = await bucket.get(key);
    return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
  }
  return {
    name: "r2",
    async get(key) {
      try {
        return await withDeadline(read(prefix + key), timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`));
      } catch (cause) {
        throw storageError("r2", prefix + key, "the bucket binding failed or was late", cause);
      }
    },
  };
}
