import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { type Manifest, ModelName, ModelVersion } from "../artifact/manifest.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { openPublished, readPointer } from "./published-artifact.ts";
import type { ManagedStore, ObjectStore, WritableStore } from "./store.ts";

/** A version of a model in a store. */
export interface PublishedVersion {
  readonly name: string;
  readonly version: string;
  /** When it was last published. */
  readonly published: Date;
  readonly isCurrent: boolean;
}

const POINTER = /^models\/([^/]+)\/([^/]+)\.json$/;

/** Returns the model and the version of a pointer's key; without version, it is the pointer to the current one. */
export function pointerPlace(key: string): { readonly name: string; readonly version: string | undefined } | undefined {
  const [, name, version] = POINTER.exec(key) ?? [];
  if (!v.is(ModelName, name)) return undefined;
  if (version === "current") return { name, version: undefined };
  return v.is(ModelVersion, version) ? { name, version } : undefined;
}

/** Lists the versions of all models in a store, or of one model: by name, the newest first. */
export async function publishedVersions(store: ManagedStore, name?: string): Promise<PublishedVersion[]> {
  const found: { name: string; version: string; published: Date }[] = [];
  for await (const { key, modified } of store.list(name === undefined ? "models/" : `models/${name}/`)) {
    const { name: model, version } = pointerPlace(key) ?? {};
    if (model !== undefined && version !== undefined) found.push({ name: model, version, published: modified });
  }
  const current = new Map<string, string>();
  for (const model of new Set(found.map((each) => each.name))) {
    current.set(model, (await readPointer(store, model)).version);
  }
  return found
    .map((each) => ({ ...each, isCurrent: current.get(each.name) === each.version }))
    .sort((a, b) => a.name.localeCompare(b.name) || b.published.getTime() - a.published.getTime());
}

/**
 * Returns the version that was published before the current one.
 *
 * @throws BertEdgeError `model_not_published` if there is none, or no model of this name
 */
export async function previousVersion(store: ManagedStore, name: string): Promise<string> {
  // Says it if there is no model of this name.
  await readPointer(store, name);
  const versions = await publishedVersions(store, name);
  const current = versions.findIndex(({ isCurrent }) => isCurrent);
  const previous = current < 0 ? undefined : versions[current + 1];
  if (previous) return previous.version;
  throw new BertEdgeError("model_not_published", `${store.name} has no version of ${name} before the current one.`, {
    hint: "`bert-edge list` shows all versions. `bert-edge promote` makes any of them current.",
  });
}

/** What a version needs: its manifest, and the files that the manifest names. */
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
 * @throws BertEdgeError `model_not_published`; `artifact_corrupt` if an object of the version is missing
 */
export async function promote(store: WritableStore, name: string, version: string): Promise<void> {
  const pointer = await readPointer(store, name, version);
  const { sizes } = await objectsOf(store, pointer);
  for (const [key, size] of sizes) {
    const found = await store.size(key);
    if (found === size) continue;
    const fault = found === undefined ? "is missing" : `has ${found} bytes instead of ${size}`;
    throw new BertEdgeError("artifact_corrupt", `${store.name}/${key} of ${name}@${version} ${fault}.`, {
      hint: "Publish this version again.",
    });
  }
  const text = new TextEncoder().encode(`${JSON.stringify(pointer, null, 2)}\n`);
  await store.put(pointerKey(name), text, { contentType: "application/json" });
}

/**
 * Reads everything of a model's current version back, and compares it with its hashes.
 *
 * @returns bytes that were read
 * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
 */
export async function verifyPublished(store: ObjectStore, name: string): Promise<number> {
  const artifact = await openPublished(store, await readPointer(store, name));
  let bytes = 0;
  for (const [file, { size }] of Object.entries(artifact.manifest.files)) {
    await artifact.read(file);
    bytes += size;
  }
  return bytes;
}
