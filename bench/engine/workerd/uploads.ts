import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { blobKey, pointerKey } from "#sdk/artifact/keys.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";

/** Objects of a store, by key. */
export type Objects = ReadonlyMap<string, Uint8Array<ArrayBuffer>>;

/** What of a published model can be in the Worker's upload: the pointer to the current version, or everything but pages. */
export type Upload = "pointer" | "model";

/** Returns the objects of a published model that are in the Worker's upload. */
export async function uploadOf(artifact: PublishableArtifact, upload: Upload): Promise<Objects> {
  const { name, files, targets } = artifact.manifest;
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  await publish(artifact, memoryStore(objects));
  const pages = new Set(targets.edge?.pages);
  const blobs = Object.entries(files).map(([file, { sha256 }]) => (pages.has(file) ? "" : blobKey(sha256)));
  const keys = new Set([pointerKey(name), ...(upload === "model" ? blobs : [])]);
  return new Map([...objects].filter(([key]) => keys.has(key)));
}
