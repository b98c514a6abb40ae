import type { Artifact } from "../artifact/artifact.ts";
import { type Destination, fill, into } from "../artifact/fill.ts";
import type { ManifestFile } from "../artifact/manifest.ts";
import { receive } from "./receive.ts";
import type { ObjectStore } from "./store.ts";

/** Makes an artifact from files in a store. `keyOf` returns the key of a file. Default: the file's name. */
export function storedArtifact(
  store: ObjectStore,
  { manifest, version, measurements }: Omit<Artifact, "read" | "readInto">,
  keyOf: (file: string) => string = (file) => file,
): Artifact {
  const readInto: Artifact["readInto"] = (file, destination) =>
    readStored(store, keyOf(file), manifest.files[file] as ManifestFile, destination);
  return {
    manifest,
    version,
    measurements,
    readInto,
    async read(file) {
      const bytes = new Uint8Array((manifest.files[file] as ManifestFile).size);
      await readInto(file, into(bytes));
      return bytes;
    },
  };
}

/**
 * Reads an object into `destination` and checks it against the hashes in `file`.
 *
 * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`, `buffer_invalid`
 */
export const readStored = (
  store: ObjectStore,
  key: string,
  file: ManifestFile,
  destination: Destination,
): Promise<void> => fill(destination, file, `${store.name}/${key}`, (deliver) => receive(store, key, deliver));
