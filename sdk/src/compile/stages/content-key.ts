import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { MANIFEST_FORMAT } from "../../artifact/manifest.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import { assertFile, openFile } from "../files/regular-file.ts";

/**
 * Returns the key of a result: the SHA-256 of the kind of result, of the format version, and of `parts`. `parts` must
 * contain everything that determines the result.
 */
export const contentKey = (kind: string, ...parts: readonly unknown[]): string =>
  createHash("sha256")
    .update(JSON.stringify([MANIFEST_FORMAT, kind, ...parts]))
    .digest("hex");

/**
 * Hashes the files below a folder: their paths and their bytes. `counts` says which paths to include.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function folderKey(folder: string, counts: (path: string) => boolean = () => true): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const path of paths.filter(counts).toSorted()) {
    assertFile(path);
    const file = createHash("sha256");
    for await (const chunk of (await openFile(path)).createReadStream()) file.update(chunk as Buffer);
    hash.update(JSON.stringify([relative(folder, path), file.digest("hex")]));
  }
  return hash.digest("hex");
}

/** Hashes a model: the files of its folder, and the name of the ONNX file if the path names one. */
export async function modelKey(path: string): Promise<string> {
  const { root, onnx } = modelPlace(path);
  return contentKey("model", await folderKey(root), onnx === undefined ? "" : relative(root, onnx));
}
