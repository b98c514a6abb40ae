import type { Artifact } from "../artifact/artifact.ts";
import { corrupt, type Destination, fill, into } from "../artifact/fill.ts";
import type { ManifestFile } from "../artifact/manifest.ts";
import { receive } from "./receive.ts";
import type { ByteRange, ObjectStore } from "./store.ts";

/** Makes an artifact from files in a store. `keyOf` returns the key of a file. Default: the file's name. */
export function storedArtifact(
  store: ObjectStore,
  { manifest, version, measurements }: Omit<Artifact, "read" | "readInto" | "readPart">,
  keyOf: (file: string) => string = (file) => file,
): Artifact {
  const readInto: Artifact["readInto"] = (file, destination) =>
    readStored(store, keyOf(file), manifest.files[file] as ManifestFile, destination);
  return {
    manifest,
    version,
    measurements,
    readInto,
    readPart: (file, begin, end) => readPart(store, keyOf(file), { begin, end }),
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

const RANGES =
  "A store of your own must return only the bytes of the third argument of `open`. In other stores, repair the object with `bert-edge publish --verify`.";

/**
 * Reads a part of an object, whose content is not checked.
 *
 * @throws BertEdgeError `artifact_corrupt` if the object is missing or has no such part; `storage_unavailable`
 */
async function readPart(store: ObjectStore, key: string, range: ByteRange): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(range.end - range.begin);
  const where = `${store.name}/${key}`;
  const part = `bytes ${range.begin} to ${range.end - 1}`;
  let filled = 0;
  const deliver = async (piece: Uint8Array) => {
    if (filled + piece.length > bytes.length) throw corrupt(where, `gives more than ${part}`, RANGES);
    bytes.set(piece, filled);
    filled += piece.length;
  };
  if (!(await receive(store, key, deliver, range))) throw corrupt(where, "is missing");
  if (filled < bytes.length) throw corrupt(where, `has no ${part}`);
  return bytes;
}
