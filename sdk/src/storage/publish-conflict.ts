import { BertEdgeError } from "../artifact/error.ts";
import type { StoredObject } from "./store.ts";

/** Makes the error for an object that another publisher has written meanwhile. */
export const publishConflict = (store: string, key: string): BertEdgeError =>
  new BertEdgeError("publish_conflict", `Another publisher has written ${store}/${key} meanwhile.`, {
    hint: "Its version is current. `bert-edge list` shows all versions, and `bert-edge promote` makes another one current.",
  });

/** Makes the error for a service that cannot keep two publishers apart. */
export const conditionalWritesMissing = (store: string, does: "refuses" | "ignores"): BertEdgeError =>
  new BertEdgeError(
    "conditional_writes_missing",
    `${store} ${does} conditional writes. The current version is as before.`,
    {
      hint: "If nobody else publishes to it at the same time, use `bert-edge publish`, `promote` and `rollback` with --single-publisher. Otherwise use a bucket of AWS S3 or R2.",
    },
  );

/**
 * Checks that an object is still the one that is to be replaced, for stores that do not check it themselves.
 *
 * @param replaces undefined: any object
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
 * Says whether an object was not written since it was described. The ETag alone does not show this: S3 and R2 give the same one to
 * the same content.
 *
 * @param clockMs precision of the times by which the store says when an object was written, in ms
 */
export function isSameWrite(found: StoredObject | undefined, seen: StoredObject, clockMs = 1): boolean {
  const tick = ({ modified }: StoredObject) => Math.floor(modified.getTime() / clockMs);
  return found?.etag === seen.etag && tick(found) === tick(seen);
}
