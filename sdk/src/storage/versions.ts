import { BertEdgeError } from "../artifact/error.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import type { Manifest } from "../artifact/manifest.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { pointerPlace } from "./pointer-place.ts";
import { openPublished, readPointer } from "./published-artifact.ts";
import type { ManagedStore, ObjectStore, WritableStore } from "./store.ts";
import { type CurrentPointer, currentPointer, type Signing, trusted, writePointers } from "./write-pointer.ts";

/** A version of a model in a store. */
export interface PublishedVersion {
  readonly name: string;
  readonly version: string;
  /** Time at which the version was last published or promoted. */
  readonly published: Date;
  readonly isCurrent: boolean;
  /** Signature of the pointer to the current version, if this is the current version and it is signed. */
  readonly signed?: Pick<Pointer, "sequence" | "expires"> & {
    readonly signer: string;
    /** Whether the store has checked the signature. It may still be expired. */
    readonly verified: boolean;
  };
  /** Error of reading the pointer to this model's current version, if it failed. Then it is not known which version is current. */
  readonly unreadable?: BertEdgeError;
}

/**
 * Lists the versions of all models in a store, or of one model: by name, the newest first. A model whose pointer to the current version
 * cannot be read is listed too.
 */
export async function listVersions(store: ManagedStore, name?: string): Promise<PublishedVersion[]> {
  const found: { name: string; version: string; published: Date }[] = [];
  for await (const { key, modified } of store.list(name === undefined ? "models/" : `models/${name}/`)) {
    const { name: model, version } = pointerPlace(key) ?? {};
    if (model !== undefined && version !== undefined) found.push({ name: model, version, published: modified });
  }
  const current = new Map<string, Pointer | BertEdgeError | undefined>();
  for (const model of new Set(found.map((each) => each.name))) current.set(model, await currentOf(store, model));
  return found
    .map((each) => {
      const pointer = current.get(each.name);
      if (pointer instanceof BertEdgeError) return { ...each, isCurrent: false, unreadable: pointer };
      const isCurrent = pointer?.version === each.version;
      if (!isCurrent || !pointer.signature) return { ...each, isCurrent };
      const { signature, sequence, expires } = pointer;
      const verified = store.verifyPointer !== undefined;
      return { ...each, isCurrent, signed: { signer: signature.signer, sequence, expires, verified } };
    })
    .sort((a, b) => a.name.localeCompare(b.name) || b.published.getTime() - a.published.getTime());
}

/**
 * Reads the pointer to the current version of a model.
 *
 * @returns the pointer, or the error of reading it; undefined if it does not exist: the first publisher of a model may have been killed
 *   before it made its version current
 */
async function currentOf(store: ManagedStore, name: string): Promise<Pointer | BertEdgeError | undefined> {
  try {
    return (await store.head(pointerKey(name))) && (await readPointer(store, name));
  } catch (error) {
    if (error instanceof BertEdgeError) return error;
    throw error;
  }
}

/**
 * Returns the version that was current before the current one.
 *
 * @param onGuess called if the pointer does not name the previous version, because an earlier version of bert-edge wrote it. Then the
 *   result is the version that was published before the current one.
 * @throws BertEdgeError `model_not_published` if no version was current before, or if the store does not have the model or that version;
 *   `pointer_invalid`; `signature_invalid`
 */
export async function previousVersion(
  store: ManagedStore,
  name: string,
  onGuess: () => void = () => {},
): Promise<string> {
  const { previous } = await readPointer(store, name).catch((cause: unknown) => {
    if (!(cause instanceof BertEdgeError) || cause.code === "storage_unavailable") throw cause;
    throw new BertEdgeError(cause.code, `${cause.message} So it is not known which version was current before.`, {
      hint: PROMOTE,
      cause,
    });
  });
  if (previous !== undefined) {
    if (previous !== null && (await store.head(pointerKey(name, previous)))) return previous;
    throw notThere(
      previous === null
        ? `${store.name} has no version of ${name} before the current one.`
        : `${name}@${previous} was current before, but ${store.name} does not have it any more.`,
    );
  }
  const versions = await listVersions(store, name);
  const current = versions.findIndex(({ isCurrent }) => isCurrent);
  const guess = current < 0 ? undefined : versions[current + 1];
  if (!guess) throw notThere(`${store.name} has no version of ${name} before the current one.`);
  onGuess();
  return guess.version;
}

const PROMOTE = "`bert-edge list` shows all versions. `bert-edge promote` makes any of them current.";

const notThere = (what: string) => new BertEdgeError("model_not_published", what, { hint: PROMOTE });

/** Returns the objects of a version: its manifest, and the files that the manifest names. */
export async function objectsOf(
  store: ObjectStore,
  pointer: Pointer,
): Promise<{ readonly manifest: Manifest; readonly sizes: ReadonlyMap<string, number> }> {
  const { manifest } = await openPublished(store, pointer);
  const files = [pointer.manifest, ...Object.values(manifest.files)];
  return { manifest, sizes: new Map(files.map(({ sha256, size }) => [blobKey(sha256), size])) };
}

/**
 * Makes a version of a model the current one. Running deployments load it within a minute.
 *
 * @throws BertEdgeError `model_not_published`; `artifact_corrupt` if an object of the version is missing; `publish_conflict` if
 *   another publisher makes a version current meanwhile; `signing_key_missing`
 */
export async function promote(
  store: WritableStore,
  name: string,
  version: string,
  { signing }: { readonly signing?: Signing | undefined } = {},
): Promise<void> {
  const signed = trusted(store, signing);
  const before = await currentPointer(signed, name, signing);
  const pointer = await readPointer(signed, name, version);
  const { sizes } = await objectsOf(store, pointer);
  const [damaged] = await damagedObjects(store, sizes);
  if (damaged) {
    throw new BertEdgeError(
      "artifact_corrupt",
      `${store.name}/${damaged.key} of ${name}@${version} ${damaged.fault}.`,
      {
        hint: "Publish this version again.",
      },
    );
  }
  const isStepBack = !before.pointer || before.pointer.previous === version;
  // After a step back, the next `rollback` goes further back, and not to the version that was just left.
  const previous = isStepBack ? pointer.previous : versionBefore(version, before);
  await writePointers(store, pointer, { before, previous, signing });
}

/**
 * Makes the version current that was current before.
 *
 * @returns the version that is now current
 * @throws BertEdgeError the errors of `promote`, `pointer_invalid`, and `model_not_published` if no version was current before
 */
export async function rollback(
  store: ManagedStore,
  name: string,
  options: { readonly signing?: Signing | undefined } = {},
): Promise<string> {
  const version = await previousVersion(store, name);
  await promote(store, name, version, options);
  return version;
}

/** Returns the version that was current before `version`: null if there was none, undefined if it is not known. */
export function versionBefore(version: string, { object, pointer }: CurrentPointer): string | null | undefined {
  if (!object) return null;
  return pointer?.version === version ? pointer.previous : pointer?.version;
}

/** Finds the objects that are missing in a store, or have the wrong size. */
export async function damagedObjects(
  store: WritableStore,
  sizes: ReadonlyMap<string, number>,
): Promise<{ readonly key: string; readonly fault: string }[]> {
  const damaged: { key: string; fault: string }[] = [];
  for (const [key, size] of sizes) {
    const found = await store.head(key);
    if (!found) damaged.push({ key, fault: "is missing" });
    else if (found.size !== size) damaged.push({ key, fault: `has ${found.size} bytes instead of ${size}` });
  }
  return damaged;
}
