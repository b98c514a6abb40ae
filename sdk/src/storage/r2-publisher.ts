import { type R2Bucket, r2Store } from "./r2.ts";
import { storageError } from "./storage-error.ts";
import type { ManagedStore, ObjectStore, StoredObject, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, R2Bucket, StoredObject, WritableStore };

/** The part of an R2 bucket binding that `r2Publisher` uses. */
export interface WritableR2Bucket extends R2Bucket {
  head(key: string): Promise<{ size: number } | null>;
  put(key: string, bytes: Uint8Array, options: { httpMetadata: { contentType: string } }): Promise<unknown>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    objects: readonly { key: string; size: number; uploaded: Date }[];
    truncated: boolean;
    cursor?: string;
  }>;
  delete(key: string): Promise<void>;
}

/** Reads and writes models in an R2 bucket through a binding. `name` names the bucket in messages. */
export function r2Publisher(bucket: WritableR2Bucket, name = "r2"): ManagedStore {
  const failure =
    (key: string) =>
    (error: unknown): never => {
      throw storageError(name, key, String(error), { cause: error });
    };
  return {
    ...r2Store(bucket),
    name,
    async put(key, bytes, { contentType }) {
      await bucket.put(key, bytes, { httpMetadata: { contentType } }).catch(failure(key));
    },
    size: async (key) => (await bucket.head(key).catch(failure(key)))?.size,
    async *list(prefix) {
      let cursor: string | undefined;
      do {
        const page = await bucket.list({ prefix, ...(cursor && { cursor }) }).catch(failure(prefix));
        for (const { key, size, uploaded } of page.objects) yield { key, size, modified: uploaded };
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
    },
    remove: (key) => bucket.delete(key).catch(failure(key)),
  };
}
