import type { ObjectStore } from "./store.ts";

/** The part of a Workers R2 bucket binding that is used. */
export interface R2Bucket {
  get(key: string): Promise<{ body: ReadableStream<Uint8Array> } | null>;
}

/** Reads through a Workers R2 binding. `prefix` is put before every key; `timeoutMs` is for a whole object, default 30 000. */
export function r2Store(
  bucket: R2Bucket,
  { prefix = "", timeoutMs }: { prefix?: string; timeoutMs?: number } = {},
): ObjectStore {
  return {
    name: prefix ? `r2(${prefix})` : "r2",
    timeoutMs,
    open: async (key) => (await bucket.get(prefix + key))?.body,
  };
}
