import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { fill, into } from "../artifact/fill.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { parseManifest } from "../artifact/manifest.ts";
import { MAX_POINTER_BYTES, type Pointer, parsePointer } from "../artifact/pointer.ts";
import { readObject } from "./read-object.ts";
import type { ObjectStore } from "./store.ts";
import { readStored, storedArtifact } from "./stored-artifact.ts";

/**
 * Reads the pointer to a version of a model.
 *
 * @param version Default: the current version
 * @throws BertEdgeError `model_not_published`, `pointer_invalid`, `signature_invalid`, `storage_unavailable`
 */
export const readPointer = async (store: ObjectStore, name: string, version?: string): Promise<Pointer> =>
  (await readPointerText(store, name, version)).pointer;

/** Reads a pointer as `readPointer` does, and also returns the text that was checked. */
export async function readPointerText(
  store: ObjectStore,
  name: string,
  version?: string,
): Promise<{ pointer: Pointer; text: string }> {
  const key = pointerKey(name, version);
  const bytes = await readObject(store, key, MAX_POINTER_BYTES);
  if (!bytes) {
    throw new BertEdgeError(
      "model_not_published",
      `${store.name} has no model named ${version === undefined ? name : `${name}@${version}`}: there is no object ${key}.`,
      {
        hint: `${store.publishHint ?? "Publish the model to this store with `bert-edge publish <artifact> --to …`."} Or correct the model's name.`,
      },
    );
  }
  const text = new TextDecoder().decode(bytes);
  const pointer = parsePointer(text, `${store.name}/${key}`);
  await store.verifyPointer?.(key, text);
  assertNames(pointer, { name, version }, `${store.name}/${key}`);
  return { pointer, text };
}

/**
 * Checks that a pointer names the model and the version that its key names.
 *
 * @param place the pointer's store and key, for the error message
 * @throws BertEdgeError `pointer_invalid`
 */
export function assertNames(
  pointer: Pick<Pointer, "name" | "version">,
  { name, version = pointer.version }: { readonly name: string; readonly version: string | undefined },
  place: string,
): void {
  if (pointer.name === name && pointer.version === version) return;
  const named = `${pointer.name}@${pointer.version}`;
  throw new BertEdgeError("pointer_invalid", `The pointer ${place} names another model: ${named}.`, {
    hint: "A pointer cannot be copied to another name. Prepare the model with the new --name, and publish it.",
  });
}

/**
 * Opens the version that a pointer names.
 *
 * @throws BertEdgeError `artifact_corrupt`, `manifest_invalid`, `storage_unavailable`; `pointer_invalid` if the manifest has another
 *   name than the pointer
 */
export async function openPublished(
  store: ObjectStore,
  { name, version, manifest: file, measurements = {} }: Pointer,
): Promise<Artifact> {
  const bytes = new Uint8Array(file.size);
  const { text } = file;
  await (text === undefined
    ? readStored(store, blobKey(file.sha256), file, into(bytes))
    : fill(into(bytes), file, `The manifest in ${store.name}/${pointerKey(name)}`, async (deliver) => {
        await deliver(new TextEncoder().encode(text));
        return true;
      }));
  const manifest = parseManifest(new TextDecoder().decode(bytes), `${store.name}/${name}`);
  assertNames({ name: manifest.name, version }, { name, version }, `${store.name}/${pointerKey(name)}`);
  return storedArtifact(store, { manifest, version, measurements }, (file) =>
    blobKey(manifest.files[file]?.sha256 ?? ""),
  );
}
