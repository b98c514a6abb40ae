import { pointerKey } from "../artifact/keys.ts";
import { readPointer } from "./published-artifact.ts";
import type { ManagedStore, StoredObject } from "./store.ts";
import { objectsOf, pointerPlace, publishedVersions } from "./versions.ts";

export interface GarbageOptions {
  /** Age in ms from which on versions that are not current, and objects that no version needs, are removed. */
  readonly olderThanMs: number;
  /** Whether to remove nothing, only to report. Default false. */
  readonly dryRun?: boolean;
  readonly now?: number;
  /** Called for each object, before it is removed. */
  readonly onObject?: (object: StoredObject) => void;
}

export interface CollectedGarbage {
  /** Versions that were removed: `name@version`. */
  readonly versions: readonly string[];
  /** Number of removed objects, pointers included. */
  readonly objects: number;
  readonly bytes: number;
}

/**
 * Removes old versions of models that are not current, and old objects that no version needs, such as leftovers of publishers that
 * were killed. Keeps the current version of each model, whatever its age, and everything that is younger than `olderThanMs`.
 *
 * Pointers are removed first. They are read again just before objects are removed, so that a version that was published meanwhile
 * keeps its objects.
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

  let [objects, bytes] = [0, 0];
  const remove = async (object: StoredObject) => {
    onObject(object);
    if (!dryRun) await store.remove(object.key);
    objects++;
    bytes += object.size;
  };
  const candidates: StoredObject[] = [];
  for await (const object of store.list("blobs/")) if (isOld(object.modified)) candidates.push(object);
  for await (const object of store.list("models/")) {
    if (obsolete.has(object.key) || (object.key.endsWith(".tmp") && isOld(object.modified))) await remove(object);
  }
  const needed = await neededObjects(store, obsolete);
  for (const object of candidates) if (!needed.has(object.key)) await remove(object);
  return { versions: old.map(({ name, version }) => `${name}@${version}`), objects, bytes };
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
