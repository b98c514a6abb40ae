import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey, removedKey } from "../artifact/keys.ts";
import { parsePointer } from "../artifact/pointer.ts";
import { pointerPlace } from "./pointer-place.ts";
import { readObject } from "./read-object.ts";
import type { ManagedStore, StoredObject } from "./store.ts";
import { objectsOf, publishedVersions } from "./versions.ts";

export interface GarbageOptions {
  /** Age in ms from which on versions that are not current, and objects that no version needs, are removed. */
  readonly olderThanMs: number;
  /** Whether to remove nothing, only to report. Default false. */
  readonly dryRun?: boolean;
  readonly now?: number;
  /** Called for each object, after it is removed. */
  readonly onObject?: (object: Pick<StoredObject, "key">) => void;
}

export interface CollectedGarbage {
  /** Versions that were removed: `name@version`. Their objects are removed by a run an hour later. */
  readonly versions: readonly string[];
  /** Number of removed objects, without pointers. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of removed uploads that began and did not end. */
  readonly uploads: number;
}

/** Time for which the objects of a removed version stay: somebody may just be making this version current. */
const GRACE_MS = 3_600_000;

/** What publishers that were killed leave in a folder. */
const LEFTOVER = /\.(tmp|lock)$/;

/**
 * Removes old versions of models that are not current, and old objects that no version needs, such as those of publishers that were
 * killed. Keeps the current version of each model, whatever its age, and everything that is younger than `olderThanMs`.
 *
 * Publishers may run at the same time. The objects of a version stay for an hour after its pointer was removed. An object is removed only
 * if nobody has written it again meanwhile, and `publish` does so with old objects.
 *
 * @throws BertEdgeError `pointer_invalid`, `manifest_invalid` and others if it cannot be known what a version needs. Then no
 *   object was removed.
 */
export async function collectGarbage(
  store: ManagedStore,
  { olderThanMs, dryRun = false, now = Date.now(), onObject = () => {} }: GarbageOptions,
): Promise<CollectedGarbage> {
  const isOlder = ({ modified }: Pick<StoredObject, "modified">, ms: number) => modified.getTime() < now - ms;
  let [objects, bytes, uploads] = [0, 0, 0];
  const remove = async (object: StoredObject): Promise<boolean> => {
    if (!dryRun && !(await store.remove(object.key, object))) return false;
    onObject(object);
    return true;
  };

  const versions: string[] = [];
  const retired = new Set<string>();
  for (const { name, version, isCurrent, published: modified } of await publishedVersions(store)) {
    if (isCurrent || !isOlder({ modified }, olderThanMs)) continue;
    if (!dryRun) await retire(store, name, version);
    retired.add(removedKey(name, version));
    versions.push(`${name}@${version}`);
  }

  const candidates: StoredObject[] = [];
  for await (const object of store.list("blobs/")) if (isOlder(object, olderThanMs)) candidates.push(object);
  const needed = new Set<string>();
  for await (const object of store.list("models/")) {
    const { key } = object;
    const isRemoved = key.endsWith(".removed");
    const isOver = isRemoved && isOlder(object, GRACE_MS) && !retired.has(key);
    if (isOver && (await remove(object))) continue;
    if (LEFTOVER.test(key)) isOlder(object, olderThanMs) && (await remove(object));
    else if (isRemoved || pointerPlace(key)) for (const blob of await blobsOf(store, key)) needed.add(blob);
  }
  for (const object of candidates) {
    if (needed.has(object.key) || !(await remove(object))) continue;
    objects++;
    bytes += object.size;
  }
  for await (const { key, began: modified, abort } of store.unfinished?.("blobs/") ?? []) {
    if (!isOlder({ modified }, olderThanMs)) continue;
    if (!dryRun) await abort();
    onObject({ key });
    uploads++;
  }
  return { versions, objects, bytes, uploads };
}

/** Puts the pointer to a version aside, so that nobody can make it current any more. */
async function retire(store: ManagedStore, name: string, version: string): Promise<void> {
  const key = pointerKey(name, version);
  const pointer = await store.head(key);
  const bytes = pointer && (await readObject(store, key));
  if (!bytes) return;
  await store.put(removedKey(name, version), bytes, { contentType: "application/json" });
  await store.remove(key, pointer);
}

/** Returns the keys of the objects that a pointer needs. */
async function blobsOf(store: ManagedStore, key: string): Promise<Iterable<string>> {
  const bytes = await readObject(store, key);
  if (bytes) {
    const pointer = parsePointer(new TextDecoder().decode(bytes), `${store.name}/${key}`);
    return (await objectsOf(store, pointer)).sizes.keys();
  }
  throw new BertEdgeError("publish_conflict", `${store.name}/${key} was removed meanwhile, so another gc is running.`, {
    hint: "Run gc again when the other one has ended.",
  });
}
