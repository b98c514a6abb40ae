import { BertEdgeError } from "../artifact/error.ts";
import { pointerKey, removedKey } from "../artifact/keys.ts";
import { MAX_POINTER_BYTES, type Pointer, parsePointer } from "../artifact/pointer.ts";
import { pointerPlace } from "./pointer-place.ts";
import { assertNames } from "./published-artifact.ts";
import { readObject } from "./read-object.ts";
import type { ManagedStore, StoredObject } from "./store.ts";
import { objectsOf } from "./versions.ts";

export interface GarbageOptions {
  /** Minimum age in ms of what is removed: versions that are not current, and objects that no version needs. */
  readonly olderThanMs: number;
  /** Whether only to report what would be removed. Default false. */
  readonly dryRun?: boolean;
  readonly now?: number;
  /** Called for each object or upload after its removal; in a dry run, for each that would be removed. */
  readonly onObject?: (object: Pick<StoredObject, "key">) => void;
}

export interface CollectedGarbage {
  /** Removed versions: `name@version`. A run an hour later removes their objects. */
  readonly versions: readonly string[];
  /** Number of removed objects, without pointers. */
  readonly objects: number;
  readonly bytes: number;
  /** Number of removed uploads that were not finished. */
  readonly uploads: number;
}

/** Time in ms for which the objects of a removed version stay, because another process may be making this version current. */
const GRACE_MS = 3_600_000;

/** Endings of the files that killed publishers leave in a folder. */
const LEFTOVER = /\.(tmp|lock)$/;

/** Keys of objects, and of the files that an interrupted write leaves. Other files under `blobs/` do not belong to bert-edge. */
const OBJECT = /^blobs\/sha256\/[0-9a-f]{64}(\..*(tmp|lock))?$/;

/**
 * Removes old versions that are not current, and old objects that no version needs, such as those that a killed publisher left. Keeps
 * the current version of each model, whatever its age, and everything that is younger than `olderThanMs`. If the current version
 * became current less than `olderThanMs` ago, also keeps the version to which `rollback` returns.
 *
 * Publishers may run at the same time. The removal of a version renames its pointer to `.removed`, and its objects stay for another
 * hour. An object is removed only if no publisher has written it again since it was listed. `publish` writes old objects again.
 *
 * @throws BertEdgeError `pointer_invalid`, `manifest_invalid` and others if the objects that a version needs cannot be determined.
 *   Then no version and no object was removed.
 */
export async function collectGarbage(
  store: ManagedStore,
  { olderThanMs, dryRun = false, now = Date.now(), onObject = () => {} }: GarbageOptions,
): Promise<CollectedGarbage> {
  const isOlder = ({ modified }: Pick<StoredObject, "modified">, ms = olderThanMs) => modified.getTime() < now - ms;
  const remove = async (object: StoredObject): Promise<boolean> => {
    if (!dryRun && !(await store.remove(object.key, object))) return false;
    onObject(object);
    return true;
  };

  // Lists objects before it reads pointers. A version that is published later writes its old objects again, so `remove` keeps them.
  const oldObjects: StoredObject[] = [];
  for await (const object of store.list("blobs/")) {
    if (OBJECT.test(object.key) && isOlder(object)) oldObjects.push(object);
  }
  const { kept, own, removed, leftovers, needed } = await readPointers(store, isOlder);
  for (const object of removed) {
    if (await remove(object)) continue;
    // Another gc has just removed this version again, so its objects must stay for another hour.
    for (const key of await neededBy(store, await pointerIn(store, object.key))) needed.add(key);
  }
  for (const object of leftovers) if (isOlder(object)) await remove(object);

  const versions: string[] = [];
  for (const [object, { name, version }] of own) {
    if (!isOlder(object) || kept.has(pointerKey(name, version))) continue;
    if (dryRun || (await removeVersion(store, object, removedKey(name, version)))) versions.push(`${name}@${version}`);
  }

  let [objects, bytes, uploads] = [0, 0, 0];
  for (const object of oldObjects) {
    if (needed.has(object.key) || !(await remove(object))) continue;
    objects++;
    bytes += object.size;
  }
  for await (const { key, began: modified, abort } of store.unfinished?.("blobs/") ?? []) {
    if (!isOlder({ modified })) continue;
    if (!dryRun) await abort();
    onObject({ key });
    uploads++;
  }
  return { versions, objects, bytes, uploads };
}

/** The objects under `models/`, sorted by what happens to them. */
interface Pointers {
  /** Keys of the pointers to current versions, and to the versions to which `rollback` returns from a recent current version. */
  readonly kept: Set<string>;
  /** The pointer to each version, by the stored object that contains it. */
  readonly own: Map<StoredObject, Pointer>;
  /** Pointers of removed versions whose objects need not stay any longer. */
  readonly removed: StoredObject[];
  readonly leftovers: StoredObject[];
  /** Keys of the objects that must stay. */
  readonly needed: Set<string>;
}

/**
 * Reads the pointers under `models/`.
 *
 * @param isOlder returns whether an object is older than `ms`. Default of `ms`: `olderThanMs`
 */
async function readPointers(
  store: ManagedStore,
  isOlder: (object: StoredObject, ms?: number) => boolean,
): Promise<Pointers> {
  const found: Pointers = { kept: new Set(), own: new Map(), removed: [], leftovers: [], needed: new Set() };
  for await (const object of store.list("models/")) {
    const { key } = object;
    const isRemoved = key.endsWith(".removed");
    const place = pointerPlace(key);
    if (LEFTOVER.test(key)) found.leftovers.push(object);
    else if (isRemoved && isOlder(object, GRACE_MS)) found.removed.push(object);
    else if (isRemoved || place) {
      const pointer = await pointerIn(store, key);
      if (place) assertNames(pointer, place, `${store.name}/${key}`);
      for (const needed of await neededBy(store, pointer)) found.needed.add(needed);
      if (place?.version !== undefined) found.own.set(object, pointer);
      else if (place) {
        const { name, version, previous } = pointer;
        found.kept.add(pointerKey(name, version));
        if (previous && !isOlder(object)) found.kept.add(pointerKey(name, previous));
      }
    }
  }
  return found;
}

/**
 * Renames the pointer of a version, so that nobody can make this version current any more.
 *
 * @param pointer the object of the pointer, as it was listed
 * @returns false if the pointer was removed or written again since it was listed. Then this call does not remove it.
 */
async function removeVersion(store: ManagedStore, pointer: StoredObject, newKey: string): Promise<boolean> {
  const bytes = await readObject(store, pointer.key, MAX_POINTER_BYTES);
  if (!bytes) return false;
  await store.put(newKey, bytes, { contentType: "application/json" });
  return store.remove(pointer.key, pointer);
}

const neededBy = async (store: ManagedStore, pointer: Pointer): Promise<Iterable<string>> =>
  (await objectsOf(store, pointer)).sizes.keys();

async function pointerIn(store: ManagedStore, key: string): Promise<Pointer> {
  const bytes = await readObject(store, key, MAX_POINTER_BYTES);
  if (bytes) return parsePointer(new TextDecoder().decode(bytes), `${store.name}/${key}`);
  throw new BertEdgeError("publish_conflict", `${store.name}/${key} was removed meanwhile, so another gc is running.`, {
    hint: "Run gc again when the other one has ended.",
  });
}
