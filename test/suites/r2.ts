import { type R2Bucket, r2Store } from "../../sdk/src/storage/r2.ts";
import type { WritableStore } from "../../sdk/src/storage/store.ts";

/** The part of a real R2 binding that tests write with. */
export interface TestBucket extends R2Bucket {
  head(key: string): Promise<unknown>;
  put(key: string, bytes: Uint8Array): Promise<unknown>;
}

/** Publishing through a binding: deployments publish over the S3 protocol, tests have only the binding. */
export const testBucketStore = (bucket: TestBucket): WritableStore => ({
  ...r2Store(bucket),
  put: async (key, bytes) => void (await bucket.put(key, bytes)),
  has: async (key) => (await bucket.head(key)) !== null,
});
