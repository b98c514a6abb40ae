import { keyPrefix } from "../artifact/keys.ts";
import { readingCheckedKeys } from "./checked-keys.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

/** The part of a Workers R2 bucket binding that `r2Store` uses. */
export interface R2Bucket {
  get(
    key: string,
    options?: { readonly range: { readonly offset: number; readonly length: number } },
  ): Promise<{ body: ReadableStream<Uint8Array> } | null>;
}

export interface R2Options {
  /** Folder of the objects in the bucket, e.g. `team-a`. Default: the root of the bucket. */
  prefix?: string;
  /** Time limit for reading a whole object, in ms. Default 30,000. */
  timeoutMs?: number;
}

/** Reads models from an R2 bucket through a Workers binding. */
export function r2Store(bucket: R2Bucket, { prefix: folder = "", timeoutMs }: R2Options = {}): ObjectStore {
  const prefix = keyPrefix(folder);
  return readingCheckedKeys({
    name: prefix ? `r2(${prefix})` : "r2",
    publishHint:
      "Publish the model: `npx bert-edge publish <artifact> --to r2-local:<bucket>` if this is `wrangler dev`, or " +
      `\`--to s3://<bucket>/${prefix}\` if it is deployed. <bucket> is bucket_name of the R2 binding.`,
    timeoutMs,
    open: async (key, _, range) =>
      (await bucket.get(prefix + key, range && { range: { offset: range.begin, length: range.end - range.begin } }))
        ?.body,
  });
}
