import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { userCacheFolder } from "../files/folders.ts";
import { openFile } from "../files/regular-file.ts";
import { MAX_DATA_BYTES, wholeFile } from "../files/whole-file.ts";
import { codeKey } from "./code-key.ts";
import { contentKey } from "./content-key.ts";
import type { Stage, StageContext, StageName, StageRun } from "./stage.ts";

/**
 * Keeps results of stages on disk, by content: a key is the hash of everything that determines the result. If a result has
 * a property `path`, the file at this path is kept too. A result that is damaged or incomplete counts as missing.
 */
export interface StageCache {
  /** Returns a kept result. Its file is copied to `folder`. */
  find<T extends object>(key: string, folder: string): Promise<T | undefined>;
  /** Keeps a result. If it cannot be kept, for example because the disk is full, the next run computes it again. */
  keep(key: string, result: object): Promise<void>;
}

interface ResultWithFile {
  readonly path?: string;
}

/** Maximum bytes of all results: enough for eight models of the size of BERT-base. */
const MAX_BYTES = 4 * 2 ** 30;

/** Returns the folder in which `prepare` keeps results of stages. */
export const stageCacheFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(userCacheFolder(env), "bert-edge", "stages");

/** Opens a cache. The results that were used last are kept, up to `maxBytes`. */
export function openStageCache(root: string, maxBytes = MAX_BYTES): StageCache {
  return {
    async find<T extends object>(key: string, folder: string) {
      const entry = join(root, key);
      try {
        const { result, sha256 } = deserialize(await wholeFile(join(entry, RESULT), MAX_DATA_BYTES)) as Entry;
        const now = new Date();
        if (result.path === undefined) {
          await utimes(entry, now, now);
          return result as T;
        }
        const path = join(folder, crypto.randomUUID());
        await copyFile(join(entry, FILE), path, constants.COPYFILE_FICLONE);
        if ((await hashOf(path)) !== sha256) throw new Error(`${entry} is damaged`);
        await utimes(entry, now, now);
        return { ...result, path } as T;
      } catch {
        await rm(entry, { recursive: true, force: true }).catch(() => {});
        return undefined;
      }
    },
    async keep(key, result) {
      const temporary = join(root, `.${crypto.randomUUID()}.tmp`);
      try {
        await mkdir(temporary, { recursive: true });
        const { path } = result as ResultWithFile;
        if (path !== undefined) await copyFile(path, join(temporary, FILE), constants.COPYFILE_FICLONE);
        const entry: Entry = { result, sha256: path === undefined ? undefined : await hashOf(path) };
        await writeFile(join(temporary, RESULT), serialize(entry));
        await rename(temporary, join(root, key));
        await removeOldest(root, maxBytes);
      } catch {
        await rm(temporary, { recursive: true, force: true }).catch(() => {});
      }
    },
  };
}

/** Names of an entry's files. */
const RESULT = "result";
const FILE = "file";

/** Content of the file `result`. */
interface Entry {
  readonly result: ResultWithFile;
  /** SHA-256 of the result's file; undefined for a result without a file. */
  readonly sha256: string | undefined;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of (await openFile(path)).createReadStream()) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Temporary folders older than this belong to runs that were killed. */
const ABANDONED_MS = 24 * 60 * 60_000;

/** Removes the entries that were not used for the longest time, until the others have at most `maxBytes`. */
async function removeOldest(root: string, maxBytes: number): Promise<void> {
  const entries = await Promise.all(
    (await readdir(root)).map(async (name) => {
      const folder = join(root, name);
      const files = await readdir(folder);
      const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
      const { mtimeMs } = await stat(folder);
      return { folder, isTemporary: name.startsWith("."), used: mtimeMs, bytes: sizes.reduce((a, b) => a + b, 0) };
    }),
  );
  let bytes = 0;
  for (const entry of entries.toSorted((a, b) => b.used - a.used)) {
    if (!entry.isTemporary) bytes += entry.bytes;
    const isOld = entry.isTemporary ? Date.now() - entry.used > ABANDONED_MS : bytes > maxBytes;
    if (isOld) await rm(entry.folder, { recursive: true, force: true });
  }
}

export interface KeptWork<T> {
  /** Stage under which the report lists a kept result. */
  readonly stage: StageName;
  /** Name of the work, such as "edge", for progress messages and as part of the key. */
  readonly label: string;
  /** Hashes everything that determines the result, except for the code. */
  readonly key: () => Promise<string>;
  /** Runs the stages that compute the result. */
  readonly work: () => Promise<T>;
}

/** Returns the kept result of some stages, or runs the stages and keeps their result. Without a cache, only runs them. */
export async function fromCache<T extends object>(
  run: StageRun["run"],
  cache: StageCache | undefined,
  { folder }: Pick<StageContext, "folder">,
  { stage, label, key, work }: KeptWork<T>,
): Promise<T> {
  if (!cache) return work();
  const id = contentKey("kept", label, await key(), await codeKey());
  const kept = await cache.find<T>(id, folder);
  if (kept) return run(reuse<T>(stage, label), kept);
  const result = await work();
  await cache.keep(id, result);
  return result;
}

/** A stage that reports a kept result. */
const reuse = <T>(name: StageName, label: string): Stage<T, T> => ({
  name,
  describe: () => `${label}: unchanged since an earlier run`,
  run: async (result) => result,
  report: () => ({ kept: true }),
});
