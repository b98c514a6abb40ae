import type { StoredObject } from "./store.ts";

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
