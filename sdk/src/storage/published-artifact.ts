import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { type Pointer, parseManifest, parsePointer } from "../artifact/manifest.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { readObject } from "./read-object.ts";
import type { ObjectStore } from "./store.ts";
import { storedArtifact } from "./stored-artifact.ts";

/**
 * The pointer to the version of a model that is current.
 *
 * @throws BertEdgeError `model_not_published`, `pointer_invalid`, `storage_unavailable`
 */
export async function readPointer(store: ObjectStore, name: string): Promise<Pointer> {
  const key = pointerKey(name);
  const bytes = await readObject(store, key);
  if (!bytes) {
    throw new BertEdgeError("model_not_published", `${store.name} holds no model named ${name} (no ${key}).`, {
      hint: "Run `bert-edge publish <artifact> --to s3://bucket/prefix` to this store, or correct the model's name.",
    });
  }
  const pointer = parsePointer(new TextDecoder().decode(bytes), `${store.name}/${key}`);
  if (pointer.name === name) return pointer;
  throw new BertEdgeError("pointer_invalid", `The pointer at ${store.name}/${key} is to ${pointer.name}.`, {
    hint: "Objects were copied from one name to another: publish the model under its own.",
  });
}

/** @throws BertEdgeError `artifact_corrupt`, `manifest_invalid` */
export async function openPublished(
  store: ObjectStore,
  { name, version, manifest: { sha256, text } }: Pointer,
): Promise<Artifact> {
  const where = `${store.name}/${pointerKey(name)}`;
  if ((await sha256Hex(new TextEncoder().encode(text))) !== sha256) {
    throw new BertEdgeError("artifact_corrupt", `The manifest in ${where} does not match its SHA-256.`, {
      hint: "Publish the model again.",
    });
  }
  const manifest = parseManifest(text, where);
  return storedArtifact(store, { manifest, version }, (file) => blobKey(manifest.files[file]?.sha256 ?? ""));
}
