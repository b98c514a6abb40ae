import type { PublishableArtifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { blobKey } from "../artifact/keys.ts";
import { MANIFEST_FORMAT } from "../artifact/manifest.ts";
import type { Pointer } from "../artifact/pointer.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import type { WritableStore } from "./store.ts";
import { damagedObjects, versionBefore } from "./versions.ts";
import { currentPointer, type Signing, trusted, writePointers } from "./write-pointer.ts";

/**
 * Age in ms from which on an object is written again, although the store has it. A `gc` that runs at the same time may have decided to
 * remove an old object. It does not remove one that has changed.
 */
const OLD_MS = 86_400_000;

export interface PublishOptions {
  /** Called after each object. */
  readonly onObject?: (key: string, state: "uploaded" | "reused") => void;
  /** Signs the pointers. Default: they are not signed. */
  readonly signing?: Signing | undefined;
}

export interface Published {
  name: string;
  version: string;
  /** Number of objects written, without the pointers. */
  uploaded: number;
  /** Number of objects that the store had already, with the right size. */
  reused: number;
  /** Bytes written. */
  bytes: number;
}

/**
 * Copies an artifact into a store: first the files, then the manifest, and last the pointers: that of this version, and that of the
 * current version. The keys of files and manifest are derived from their content. Readers see either the old model or the complete
 * new model. If the store already has this version, only the pointers are written again, with the artifact's current measurements.
 *
 * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`; `publish_conflict` if another publisher makes a version current
 *   meanwhile; `signing_key_missing`
 */
export async function publish(
  artifact: PublishableArtifact,
  store: WritableStore,
  { onObject = () => {}, signing }: PublishOptions = {},
): Promise<Published> {
  const { manifest, manifestBytes, version, measurements } = artifact;
  const { name } = manifest;
  const result: Published = { name, version, uploaded: 0, reused: 0, bytes: 0 };
  const before = await currentPointer(trusted(store, signing), name, signing);

  const description = { sha256: await sha256Hex(manifestBytes), size: manifestBytes.length };
  const contents = new Map<string, Content>();
  for (const [file, { sha256, size }] of Object.entries(manifest.files)) {
    contents.set(blobKey(sha256), { size, read: () => artifact.read(file), contentType: "application/octet-stream" });
  }
  contents.set(blobKey(description.sha256), {
    size: description.size,
    read: async () => manifestBytes,
    contentType: "application/json",
  });

  for (const [key, content] of contents) {
    const found = await store.head(key);
    // An upload that broke off can leave a part of the object. It is written again.
    const isThere = found?.size === content.size && Date.now() - found.modified.getTime() < OLD_MS;
    if (!isThere) result.bytes += await upload(store, key, content);
    const state = isThere ? "reused" : "uploaded";
    result[state]++;
    onObject(key, state);
  }

  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(manifestBytes);
  const pointer: Pointer = { format: MANIFEST_FORMAT, name, version, manifest: { ...description, text }, measurements };
  const previous = versionBefore(version, before);
  await writePointers(
    store,
    { ...pointer, ...(previous !== undefined && { previous }) },
    { before, previous, signing },
  );
  await assertThere(store, contents);
  return result;
}

/** What is stored under a key. */
interface Content {
  readonly size: number;
  readonly contentType: string;
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

/** @returns the number of bytes */
async function upload(store: WritableStore, key: string, { read, contentType }: Content): Promise<number> {
  const bytes = await read();
  await store.put(key, bytes, { contentType });
  return bytes.length;
}

/**
 * Writes objects again that are gone, because a `gc` that began before had already decided to remove them.
 *
 * @throws BertEdgeError `artifact_corrupt` if an object is gone once more
 */
async function assertThere(store: WritableStore, contents: ReadonlyMap<string, Content>): Promise<void> {
  const sizes = new Map([...contents].map(([key, { size }]) => [key, size]));
  const damaged = await damagedObjects(store, sizes);
  if (damaged.length === 0) return;
  for (const { key } of damaged) await upload(store, key, contents.get(key) as Content);
  const [gone] = await damagedObjects(store, sizes);
  if (!gone) return;
  throw new BertEdgeError("artifact_corrupt", `${store.name}/${gone.key} ${gone.fault}, although it was written.`, {
    hint: "Something else removes or changes objects in this store. Stop it, and publish again.",
  });
}
