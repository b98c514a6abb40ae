import type { Artifact } from "../artifact/artifact.ts";
import { fill } from "../artifact/fill.ts";
import type { ManifestFile } from "../artifact/manifest.ts";
import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

/** The artifact whose files lie in `store`, each under its name or `keyOf` it. */
export function storedArtifact(
  store: ObjectStore,
  { manifest, version }: Pick<Artifact, "manifest" | "version">,
  keyOf: (file: string) => string = (file) => file,
): Artifact {
  const described = (file: string) => manifest.files[file] as ManifestFile;
  return {
    manifest,
    version,
    read: (file) => readStored(store, keyOf(file), described(file)),
    readInto: async (file, target) => void (await readStored(store, keyOf(file), described(file), target)),
  };
}

/**
 * @returns `target`, with the object in it, which is what `file` describes
 * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`, `buffer_invalid`
 */
export async function readStored(
  store: ObjectStore,
  key: string,
  file: ManifestFile,
  target: Uint8Array<ArrayBuffer> = new Uint8Array(file.size),
): Promise<Uint8Array<ArrayBuffer>> {
  await fill(target, file, `${store.name}/${key}`, (deliver) => receive(store, key, deliver));
  return target;
}
