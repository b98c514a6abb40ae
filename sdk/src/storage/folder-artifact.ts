import { join } from "node:path";
import type { PublishableArtifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { versionOf } from "../artifact/keys.ts";
import { parseManifest } from "../artifact/manifest.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { fsStore } from "./fs.ts";
import { readObject } from "./read-object.ts";
import { storedArtifact } from "./stored-artifact.ts";

export const MANIFEST_FILE = "manifest.json";

/**
 * An artifact as `bert-edge prepare` writes it: a folder with manifest.json and the files it lists.
 *
 * @throws BertEdgeError `artifact_missing`, `manifest_invalid`, `storage_unavailable`
 */
export async function openFolder(folder: string): Promise<PublishableArtifact> {
  const store = fsStore(folder);
  const path = join(folder, MANIFEST_FILE);
  const manifestBytes = await readObject(store, MANIFEST_FILE);
  if (!manifestBytes) {
    throw new BertEdgeError("artifact_missing", `${path} does not exist: ${folder} is not an artifact.`, {
      hint: "Make one with `bert-edge prepare <model folder> --out <artifact folder>`.",
    });
  }
  const manifest = parseManifest(new TextDecoder().decode(manifestBytes), path);
  const version = versionOf(await sha256Hex(manifestBytes));
  return { ...storedArtifact(store, { manifest, version }), manifestBytes };
}
