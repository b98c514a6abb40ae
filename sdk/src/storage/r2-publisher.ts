import { type R2Bucket, r2Store } from "./r2.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore, WritableStore } from "./store.ts";

export type { ObjectStore, R2Bucket, WritableStore };

/** The part of an R2 bucket binding that `r2Publisher` uses. */
export interface WritableR2Bucket extends R2Bucket {
  head(key: string): Promise<{ size: number } | null>;
  put(key: string, bytes: Uint8Array, options: { httpMetadata: { contentType: string } }): Promise<unknown>;
}

/** Reads and writes models in an R2 bucket through a binding. `name` names the bucket in messages. */
export function r2Publisher(bucket: WritableR2Bucket, name = "r2"): WritableStore {
  const failure = (key: string) => (error: unknown) => {
    throw storageError(name, key, String(error), { cause: error });
  };
  return {
    ...r2Store(bucket),
    name,
    async put(key, bytes, { contentType }) {
      await bucket.put(key, bytes, { httpMetadata: { contentType } }).catch(failure(key));
    },
    size: async (key) => (await bucket.head(key).catch(failure(key)))?.size,
  };
}
