import type { PublishableArtifact } from "../artifact/artifact.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { MANIFEST_FORMAT, type ManifestFile } from "../artifact/manifest.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import type { WritableStore } from "./store.ts";

export interface Published {
  name: string;
  version: string;
  /** Number of objects written, without the pointer. */
  uploaded: number;
  /** Number of objects that the store had already, with the right size. */
  reused: number;
  /** Bytes written. */
  bytes: number;
}

/**
 * Copies an artifact into a store: first the files, then the manifest, and last the pointers: that of this version,
 * and that of the current version. The keys of files and
 * manifest are derived from their content. Readers see either the old model or the complete new model. If the store
 * already has this version, only the pointer is written again, with the artifact's current measurements.
 *
 * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
 */
export async function publish(
  artifact: PublishableArtifact,
  store: WritableStore,
  onObject: (key: string, state: "uploaded" | "reused") => void = () => {},
): Promise<Published> {
  const { manifest, manifestBytes, version, measurements } = artifact;
  const result: Published = { name: manifest.name, version, uploaded: 0, reused: 0, bytes: 0 };

  const putOnce = async (
    { sha256, size }: Pick<ManifestFile, "sha256" | "size">,
    read: () => Promise<Uint8Array<ArrayBuffer>>,
    contentType: string,
  ) => {
    const key = blobKey(sha256);
    // An upload that broke off can leave a part of the object. It is written again.
    const state = (await store.size(key)) === size ? "reused" : "uploaded";
    if (state === "uploaded") {
      const bytes = await read();
      await store.put(key, bytes, { contentType });
      result.bytes += bytes.length;
    }
    result[state]++;
    onObject(key, state);
  };

  for (const [name, file] of Object.entries(manifest.files)) {
    await putOnce(file, () => artifact.read(name), "application/octet-stream");
  }
  const description = { sha256: await sha256Hex(manifestBytes), size: manifestBytes.length };
  await putOnce(description, async () => manifestBytes, "application/json");

  const pointer: Pointer = {
    format: MANIFEST_FORMAT,
    name: manifest.name,
    version,
    manifest: {
      ...description,
      text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(manifestBytes),
    },
    measurements,
  };
  const text = new TextEncoder().encode(`${JSON.stringify(pointer, null, 2)}\n`);
  for (const key of [pointerKey(manifest.name, version), pointerKey(manifest.name)]) {
    await store.put(key, text, { contentType: "application/json" });
  }
  return result;
}
