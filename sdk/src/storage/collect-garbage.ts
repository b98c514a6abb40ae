import { pointerKey } from "../artifact/keys.ts";
import { pointerPlace } from "./pointer-place.ts";
import { readPointer } from "./published-artifact.ts";
import type { ManagedStore, StoredObject } from "./store.ts";
import { objectsOf, publishedVersions } from "./versions.ts";

export interface GarbageOptions {
  /** Age in ms from which on versions that are not current, and objects that no version needs, are removed. */
  readonly olderThanMs: number;
  /** Whether to remove nothing, only to report. Default false. */
  readonly dryRun?: boolean;
  readonly now?: number;
  /** Called for each object, before it is removed. */
  readonly onObject?: (object: Pick<StoredObject, "key">) => void;
}

export interface CollectedGarbage {
  /** Versions that were removed: `name@version`. */
  readonly versions: readonly string[];
  /** Number of removed objects, pointers included. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of removed uploads that began and did not end. */
  readonly uploads: number;
}

/** What killed publishers leave in a folder. */
const LEFTOVER = /\.(tmp|lock)$/;

/**
 * Removes old versions of models that are not current, and old objects that no version needs, such as leftovers of publishers that
 * were killed. Keeps the current version of each model, whatever its age, and everything that is younger than `olderThanMs`.
 *
 * Pointers are removed first. Objects are looked at again just before they are removed: a publisher that needs one of them has then
 * written a pointer, or has written the object again.
 *
 * @throws BertEdgeError `pointer_invalid`, `manifest_invalid` and others if it cannot be known what a version needs. Then nothing
 *   was removed.
 */
export async function collectGarbage(
  store: ManagedStore,
  { olderThanMs, dryRun = false, now = Date.now(), onObject = () => {} }: GarbageOptions,
): Promise<CollectedGarbage> {
  const isOld = (time: Date) => time.getTime() < now - olderThanMs;
  const versions = await publishedVersions(store);
  const old = versions.filter(({ isCurrent, published }) => !isCurrent && isOld(published));
  const obsolete = new Set(old.map(({ name, version }) => pointerKey(name, version)));
  // Fails before anything is removed, if a version cannot be read.
  await neededObjects(store, obsolete);

  let [objects, bytes, uploads] = [0, 0, 0];
  const remove = async (object: StoredObject) => {
    const { etag } = (await store.head(object.key)) ?? {};
    if (etag !== object.etag) return;
    onObject(object);
    if (!dryRun) await store.remove(object.key);
    objects++;
    bytes += object.size;
  };
  const candidates: StoredObject[] = [];
  for await (const object of store.list("blobs/")) if (isOld(object.modified)) candidates.push(object);
  for await (const object of store.list("models/")) {
    if (obsolete.has(object.key) || (LEFTOVER.test(object.key) && isOld(object.modified))) await remove(object);
  }
  const needed = await neededObjects(store, obsolete);
  for (const object of candidates) if (!needed.has(object.key)) await remove(object);
  for await (const { key, began, abort } of store.unfinished?.() ?? []) {
    if (!isOld(began)) continue;
    onObject({ key });
    if (!dryRun) await abort();
    uploads++;
  }
  return { versions: old.map(({ name, version }) => `${name}@${version}`), objects, bytes, uploads };
}

/** Returns the keys of all objects that the pointers in a store need, apart from the obsolete ones. */
async function neededObjects(store: ManagedStore, obsolete: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const needed = new Set<string>();
  for await (const { key } of store.list("models/")) {
    const place = pointerPlace(key);
    if (!place || obsolete.has(key)) continue;
    const { sizes } = await objectsOf(store, await readPointer(store, place.name, place.version));
    for (const blob of sizes.keys()) needed.add(blob);
  }
  return needed;
}
