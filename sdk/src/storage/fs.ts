import { type FileHandle, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isAbsent } from "./absent.ts";
import { storageError } from "./storage-error.ts";
import type { ManagedStore, ObjectStore, StoredObject, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, StoredObject, WritableStore };

const HINT = "Give a folder that you may read and write.";

/** Keeps objects as files under `root`. Writes go to a temporary name first, so a reader never sees half an object. */
export function fsStore(root: string): ManagedStore {
  const name = `fs(${root})`;
  return {
    name,
    async open(key) {
      let handle: FileHandle;
      try {
        handle = await open(join(root, key));
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
      if ((await handle.stat()).isFile()) return fileStream(handle);
      await handle.close();
      return undefined;
    },
    async put(key, bytes) {
      const path = join(root, key);
      const temporary = `${path}.${crypto.randomUUID()}.tmp`;
      try {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(temporary, bytes);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => {});
        throw storageError(name, key, "the file cannot be written", { cause: error, hint: HINT });
      }
    },
    async size(key) {
      try {
        const file = await stat(join(root, key));
        return file.isFile() ? file.size : undefined;
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw storageError(name, key, "the file cannot be read", { cause: error, hint: HINT });
      }
    },
    async *list(prefix) {
      const folder = join(root, dirname(`${prefix}x`));
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw storageError(name, prefix, "the folder cannot be read", { cause: error, hint: HINT });
      });
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        const key = relative(root, path).split(sep).join("/");
        // Another process can remove a file meanwhile.
        const file = entry.isFile() && key.startsWith(prefix) ? await stat(path).catch(() => undefined) : undefined;
        if (file) yield { key, size: file.size, modified: file.mtime };
      }
    },
    async remove(key) {
      try {
        await rm(join(root, key), { force: true });
      } catch (error) {
        throw storageError(name, key, "the file cannot be removed", { cause: error, hint: HINT });
      }
    },
  };
}

/**
 * Returns a byte stream that reads into the reader's own buffer. Node's file streams allocate a new buffer for every piece.
 */
function fileStream(handle: FileHandle): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 64 * 1024,
    async pull(controller) {
      const request = controller.byobRequest as ReadableStreamBYOBRequest;
      const { bytesRead } = await handle.read(request.view as Uint8Array).catch(async (error: unknown) => {
        await handle.close();
        throw error;
      });
      if (bytesRead === 0) {
        await handle.close();
        controller.close();
      }
      request.respond(bytesRead);
    },
    cancel: () => handle.close(),
  });
}
