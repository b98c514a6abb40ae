import type { PublishableArtifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { into } from "../artifact/fill.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { POINTER_FORMAT, type Pointer } from "../artifact/pointer.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { publishConflict } from "./publish-conflict.ts";
import { readPointer } from "./published-artifact.ts";
import type { WritableStore } from "./store.ts";
import { readStored } from "./stored-artifact.ts";
import { damagedObjects, versionBefore } from "./versions.ts";
import { currentPointer, type Signing, trusted, writePointers } from "./write-pointer.ts";

/**
 * Minimum age in ms of an object that is written again although the store has it. A `gc` that runs at the same time may have decided to
 * remove an old object, but it keeps an object that was written again.
 */
const OLD_MS = 86_400_000;

export interface PublishOptions {
  /** Called after each object. */
  readonly onObject?: (key: string, state: "uploaded" | "reused") => void;
  /** Signs the pointers. Default: they are not signed. */
  readonly signing?: Signing | undefined;
  /**
   * Whether to read back every object, including those that the store already had, and to write damaged ones again. The version
   * becomes current only if all objects match their hashes. Default false.
   */
  readonly verify?: boolean;
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
  /** Bytes that were read back, with `verify`. */
  verifiedBytes?: number;
}

/**
 * Copies an artifact into a store: first the files, then the manifest, then the pointer to this version, and last the pointer to the
 * current version. The keys of files and manifest are derived from their content. Readers see either the old model or the complete
 * new model. If the store already has this version, only the pointers are written again, with the artifact's current measurements.
 *
 * @throws BertEdgeError `artifact_corrupt` if a file does not match its hash; `storage_unavailable`; `publish_conflict` if another
 *   publisher makes a version current meanwhile; `signing_key_missing`
 */
export async function publish(
  artifact: PublishableArtifact,
  store: WritableStore,
  { onObject = () => {}, signing, verify = false }: PublishOptions = {},
): Promise<Published> {
  const { manifest, manifestBytes, version, measurements } = artifact;
  const { name } = manifest;
  const result: Published = { name, version, uploaded: 0, reused: 0, bytes: 0 };
  const readable = trusted(store, signing);
  const before = await currentPointer(readable, name, signing);

  const description = { sha256: await sha256Hex(manifestBytes), size: manifestBytes.length };
  const contents = new Map<string, Content>();
  for (const [file, { sha256, size }] of Object.entries(manifest.files)) {
    const read = () => artifact.read(file);
    contents.set(blobKey(sha256), { sha256, size, read, contentType: "application/octet-stream" });
  }
  contents.set(blobKey(description.sha256), {
    ...description,
    read: async () => manifestBytes,
    contentType: "application/json",
  });

  for (const [key, content] of contents) {
    const isThere = (await isYoung(store, key, content)) && (!verify || (await matches(store, key, content)));
    if (!isThere) {
      result.bytes += await upload(store, key, content);
      if (verify && !(await matches(store, key, content))) {
        throw changed(`${store.name}/${key} does not match its SHA-256, although it was just written.`);
      }
    }
    if (verify) result.verifiedBytes = (result.verifiedBytes ?? 0) + content.size;
    const state = isThere ? "reused" : "uploaded";
    result[state]++;
    onObject(key, state);
  }

  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(manifestBytes);
  const pointer: Pointer = { format: POINTER_FORMAT, name, version, manifest: { ...description, text }, measurements };
  const previous = versionBefore(version, before);
  await writePointers(
    store,
    { ...pointer, ...(previous !== undefined && { previous }) },
    { before, previous, signing },
  );
  await assertThere(store, contents);
  if (verify) await assertCurrent(readable, result);
  return result;
}

/** The content of an object in a store. */
interface Content {
  readonly sha256: string;
  readonly size: number;
  readonly contentType: string;
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

/** Whether the store has an object that need not be written again: it is complete, and not old. An interrupted upload can leave a part. */
async function isYoung(store: WritableStore, key: string, { size }: Content): Promise<boolean> {
  const found = await store.head(key);
  return found?.size === size && Date.now() - found.modified.getTime() < OLD_MS;
}

/** Whether an object in the store matches its hash. Reads the whole object. */
async function matches(store: WritableStore, key: string, { sha256, size }: Content): Promise<boolean> {
  try {
    await readStored(store, key, { sha256, size }, into(new Uint8Array(size)));
    return true;
  } catch (error) {
    if (error instanceof BertEdgeError && error.code === "artifact_corrupt") return false;
    throw error;
  }
}

/**
 * Writes an object after comparing its content with the hash in its key, because other artifacts may share the object. For a file with
 * chunk hashes, `read` checks only these: a wrong manifest can list the chunk hashes of one file and the hash of another.
 *
 * @returns the number of bytes written
 */
async function upload(store: WritableStore, key: string, { sha256, read, contentType }: Content): Promise<number> {
  const bytes = await read();
  if ((await sha256Hex(bytes)) !== sha256) {
    throw new BertEdgeError("artifact_corrupt", `The file for ${key} does not match its SHA-256.`, {
      hint: "Prepare the model again.",
    });
  }
  await store.put(key, bytes, { contentType });
  return bytes.length;
}

/**
 * Checks that the store has all objects, and writes missing or damaged ones again. A `gc` that began earlier may have removed them.
 *
 * @throws BertEdgeError `artifact_corrupt` if an object is then still missing or damaged
 */
async function assertThere(store: WritableStore, contents: ReadonlyMap<string, Content>): Promise<void> {
  const sizes = new Map([...contents].map(([key, { size }]) => [key, size]));
  const damaged = await damagedObjects(store, sizes);
  if (damaged.length === 0) return;
  for (const { key } of damaged) await upload(store, key, contents.get(key) as Content);
  const [gone] = await damagedObjects(store, sizes);
  if (gone) throw changed(`${store.name}/${gone.key} ${gone.fault}, although it was written.`);
}

const changed = (what: string) =>
  new BertEdgeError("artifact_corrupt", what, {
    hint: "Something else removes or changes objects in this store. Stop it, and publish again.",
  });

/** Reads both pointers back, and checks that this version is current. */
async function assertCurrent(store: WritableStore, { name, version }: Published): Promise<void> {
  await readPointer(store, name, version);
  const current = await readPointer(store, name);
  if (current.version !== version) throw publishConflict(store.name, pointerKey(name));
}
