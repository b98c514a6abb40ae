import { withCheckedKeys } from "./checked-keys.ts";
import { isSameWrite, publishConflict } from "./publish-conflict.ts";
import { type R2Bucket, r2Store } from "./r2.ts";
import { storageError } from "./storage-error.ts";
import type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, PutOptions, R2Bucket, StoredObject, UnfinishedUpload, WritableStore };

/** The part of an R2 bucket binding that `r2Publisher` uses. */
export interface WritableR2Bucket extends R2Bucket {
  head(key: string): Promise<R2Object | null>;
  /** Resolves to null if the condition `onlyIf` does not hold. */
  put(
    key: string,
    bytes: Uint8Array,
    options: { httpMetadata: { contentType: string }; onlyIf?: { etagMatches: string } | { etagDoesNotMatch: "*" } },
  ): Promise<unknown>;
  list(options: { prefix: string; cursor?: string }): Promise<{
    objects: readonly R2Object[];
    truncated: boolean;
    cursor?: string;
  }>;
  delete(key: string): Promise<void>;
}

/** The part of R2's description of an object that `r2Publisher` uses. */
export interface R2Object {
  key: string;
  size: number;
  uploaded: Date;
  etag: string;
}

/** Reads and writes models in an R2 bucket through a binding. `name` names the bucket in messages. */
export function r2Publisher(bucket: WritableR2Bucket, name = "r2"): ManagedStore {
  const failure =
    (key: string) =>
    (error: unknown): never => {
      throw storageError(name, key, String(error), { cause: error });
    };
  const head = async (key: string): Promise<StoredObject | undefined> => {
    const found = await bucket.head(key).catch(failure(key));
    return found ? describe(found) : undefined;
  };
  return withCheckedKeys({
    ...r2Store(bucket),
    name,
    async put(key, bytes, { contentType, replaces }) {
      const options = {
        httpMetadata: { contentType },
        ...(replaces && { onlyIf: { etagMatches: replaces.etag } }),
        ...(replaces === null && { onlyIf: { etagDoesNotMatch: "*" as const } }),
      };
      const written = await bucket.put(key, bytes, options).catch(failure(key));
      if (written === null) throw publishConflict(name, key);
    },
    head,
    async *list(prefix) {
      let cursor: string | undefined;
      do {
        const page = await bucket.list({ prefix, ...(cursor && { cursor }) }).catch(failure(prefix));
        yield* page.objects.map(describe);
        if (page.truncated && !page.cursor) failure(prefix)("the list is cut off, and does not say where it goes on");
        cursor = page.truncated ? page.cursor : undefined;
      } while (cursor !== undefined);
    },
    async remove(key, only) {
      if (only && !isSameWrite(await head(key), only)) return false;
      await bucket.delete(key).catch(failure(key));
      return true;
    },
  });
}

const describe = ({ key, size, uploaded: modified, etag }: R2Object): StoredObject => ({ key, size, modified, etag });
