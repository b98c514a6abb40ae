import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { BertEdgeError } from "../artifact/error.ts";
import { isAbsent } from "./absent.ts";
import { withCheckedKeys } from "./checked-keys.ts";
import { lockOf } from "./file-lock.ts";
import { leadsOut } from "./leads-out.ts";
import { assertUnchanged, isSameWrite } from "./publish-conflict.ts";
import { storageError } from "./storage-error.ts";
import type {
  ByteRange,
  ManagedStore,
  ObjectStore,
  PutOptions,
  StoredObject,
  UnfinishedUpload,
  WritableStore,
} from "./store.ts";

export type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore };

const HINT = "Give a folder that you may read and write.";

/** Flags that open a file without waiting: opening a named pipe would wait for a writer. Windows has no O_NONBLOCK. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Keeps objects as files under `root`. Writes go to a temporary name first, so a reader never sees half an object. Nothing is listed,
 * written or removed through a link that leads out of `root`.
 */
export function fsStore(root: string): ManagedStore {
  const name = `fs(${root})`;
  /** @throws BertEdgeError `storage_unavailable` */
  const assertInside = async (key: string, folder: string): Promise<void> => {
    if (!(await leadsOut(root, folder))) return;
    throw storageError(
      name,
      key,
      `the folder ${folder} leads out of the store, because it or a folder above it is a link`,
      {
        hint: "Put the folder itself in the place of the link, or give the folder to which the link leads.",
      },
    );
  };
  return withCheckedKeys({
    name,
    async open(key, _, range) {
      let handle: FileHandle;
      try {
        handle = await open(join(root, key), READ);
      } catch (error) {
        // Opening a socket fails with ENXIO.
        if (isAbsent(error) || (error as NodeJS.ErrnoException).code === "ENXIO") return undefined;
        throw error;
      }
      if ((await handle.stat()).isFile()) return fileStream(handle, range);
      await handle.close();
      return undefined;
    },
    async put(key, bytes, { replaces }) {
      const path = join(root, key);
      const temporary = `${path}.${crypto.randomUUID()}.tmp`;
      try {
        await assertInside(key, dirname(path));
        await mkdir(dirname(path), { recursive: true });
        await writeFile(temporary, bytes, { flag: "wx" });
        await using _lock = await lockOf(path);
        assertUnchanged(name, key, await describe(root, key), replaces);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        if (error instanceof BertEdgeError) throw error;
        throw storageError(name, key, "the file cannot be written", { cause: error, hint: HINT });
      }
    },
    async head(key) {
      try {
        return await describe(root, key);
      } catch (error) {
        throw storageError(name, key, "the file cannot be read", { cause: error, hint: HINT });
      }
    },
    async *list(prefix) {
      const folder = join(root, dirname(`${prefix}x`));
      const unreadable = (error: unknown): never => {
        if (error instanceof BertEdgeError) throw error;
        throw storageError(name, prefix, "the folder cannot be read", { cause: error, hint: HINT });
      };
      await assertInside(prefix, folder).catch(unreadable);
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) =>
        isAbsent(error) ? [] : unreadable(error),
      );
      // `readdir` does not follow links. A list without the objects behind a link would look complete, and `gc` would remove what
      // these objects need. Links that lead out of the store are therefore refused.
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        if (entry.isSymbolicLink() && (await isFolder(path))) await assertInside(prefix, path).catch(unreadable);
      }
      for (const entry of entries) {
        const key = relative(root, join(entry.parentPath, entry.name)).split(sep).join("/");
        // Another process can remove a file meanwhile.
        const object = key.startsWith(prefix) ? await describe(root, key).catch(() => undefined) : undefined;
        if (object) yield object;
      }
    },
    async remove(key, only) {
      const path = join(root, key);
      try {
        await assertInside(key, dirname(path));
        await using _lock = await lockOf(path);
        const found = await describe(root, key);
        if (!found || (only && !isSameWrite(found, only))) return false;
        await rm(path);
        return true;
      } catch (error) {
        if (isAbsent(error)) return false;
        if (error instanceof BertEdgeError) throw error;
        throw storageError(name, key, "the file cannot be removed", { cause: error, hint: HINT });
      }
    },
  });
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

/** Describes a file; undefined if it does not exist. Each write makes a new file, whose inode and time give it another etag. */
async function describe(root: string, key: string): Promise<StoredObject | undefined> {
  try {
    const file = await stat(join(root, key), { bigint: true });
    if (!file.isFile()) return undefined;
    const { size, mtime, mtimeNs, ino } = file;
    return { key, size: Number(size), modified: mtime, etag: `${ino}-${mtimeNs}-${size}` };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * Returns a byte stream that reads into the reader's own buffer. Node's file streams allocate a new buffer for every piece.
 */
function fileStream(
  handle: FileHandle,
  { begin, end }: ByteRange = { begin: 0, end: Number.POSITIVE_INFINITY },
): ReadableStream<Uint8Array> {
  let at = begin;
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 64 * 1024,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const view = request.view as Uint8Array;
      // Under Yarn's Plug'n'Play, a read without a length reads nothing.
      const { bytesRead } = await handle
        .read(view, 0, Math.min(view.length, end - at), at)
        .catch(async (error: unknown) => {
          await handle.close();
          throw error;
        });
      at += bytesRead;
      if (bytesRead === 0) {
        await handle.close();
        controller.close();
      }
      request.respond(bytesRead);
    },
    cancel: () => handle.close(),
  });
}
