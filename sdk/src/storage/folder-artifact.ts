import { join } from "node:path";
import type { PublishableArtifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { versionOf } from "../artifact/keys.ts";
import { MAX_MANIFEST_BYTES, parseManifest } from "../artifact/manifest.ts";
import { MAX_MEASUREMENTS_BYTES, MEASUREMENTS_FILE, parseMeasurements } from "../artifact/measurements.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { fsStore } from "./fs.ts";
import { hubModel } from "./hub-model.ts";
import { memoryStore } from "./memory.ts";
import { readObject } from "./read-object.ts";
import type { ObjectStore } from "./store.ts";
import { storedArtifact } from "./stored-artifact.ts";

export const MANIFEST_FILE = "manifest.json";

/**
 * Opens an artifact folder that `prepare` wrote: manifest.json, the files it lists, and measurements.json.
 *
 * @throws BertEdgeError `artifact_missing`, `manifest_invalid`, `storage_unavailable`
 */
export const openFolder = (folder: string): Promise<PublishableArtifact> =>
  openStored(fsStore(folder), (file) => join(folder, file), folder);

/**
 * Opens an artifact whose files are in memory, manifest.json among them.
 *
 * @throws BertEdgeError `artifact_missing`, `manifest_invalid`
 */
export const openFiles = (files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): Promise<PublishableArtifact> =>
  openStored(memoryStore(new Map(files)), (file) => file, "the map of files");

async function openStored(
  store: ObjectStore,
  pathOf: (file: string) => string,
  where: string,
): Promise<PublishableArtifact> {
  const manifestBytes = await readObject(store, MANIFEST_FILE, MAX_MANIFEST_BYTES);
  if (!manifestBytes) {
    const hub = hubModel(where);
    throw new BertEdgeError("artifact_missing", `${where} is not an artifact: it has no ${MANIFEST_FILE}.`, {
      hint: hub
        ? `This is a model of the Hugging Face Hub. Prepare it first: bert-edge prepare ${where} --out ./artifact`
        : "Make an artifact with `bert-edge prepare <model folder> --out <artifact folder>`.",
    });
  }
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const measured = await readObject(store, MEASUREMENTS_FILE, MAX_MEASUREMENTS_BYTES);
  const described = {
    manifest: parseManifest(text(manifestBytes), pathOf(MANIFEST_FILE)),
    version: versionOf(await sha256Hex(manifestBytes)),
    measurements: measured ? parseMeasurements(text(measured), pathOf(MEASUREMENTS_FILE)) : {},
  };
  return { ...storedArtifact(store, described), manifestBytes };
}
