import { BertEdgeError } from "../artifact/error.ts";
import type { StoredObject } from "./store.ts";

/** Makes the error for an object that another publisher has written meanwhile. */
export const publishConflict = (store: string, key: string): BertEdgeError =>
  new BertEdgeError("publish_conflict", `Another publisher has written ${store}/${key} meanwhile.`, {
    hint: "The other publisher's version is current. `bert-edge list` shows all versions, and `bert-edge promote` makes another current.",
  });

/** Makes the error for an S3 service without conditional writes, which cannot keep two publishers apart. */
export const conditionalWritesMissing = (store: string, does: "refuses" | "ignores"): BertEdgeError =>
  new BertEdgeError(
    "conditional_writes_missing",
    `${store} ${does} conditional writes. The current version is unchanged.`,
    {
      hint: "If nobody else publishes to this bucket at the same time, use `bert-edge publish`, `promote` and `rollback` with --single-publisher. Otherwise use a bucket of AWS S3 or R2.",
    },
  );

/**
 * Checks that an object still has the etag that the caller has seen, for stores whose service does not check this.
 *
 * @param found the present object
 * @param replaces the object as the caller has seen it; null if it did not exist; undefined accepts any object
 * @throws BertEdgeError `publish_conflict`
 */
export function assertUnchanged(
  store: string,
  key: string,
  found: StoredObject | undefined,
  replaces: StoredObject | null | undefined,
): void {
  if (replaces !== undefined && found?.etag !== replaces?.etag) throw publishConflict(store, key);
}

/**
 * Whether nobody has written an object since it was described as `seen`. The ETag alone does not show this: in S3 and R2, equal contents
 * have equal ETags.
 *
 * @param clockMs precision of the store's modification times, in ms
 */
export function isSameWrite(found: StoredObject | undefined, seen: StoredObject, clockMs = 1): boolean {
  const tick = ({ modified }: StoredObject) => Math.floor(modified.getTime() / clockMs);
  return found?.etag === seen.etag && tick(found) === tick(seen);
}
