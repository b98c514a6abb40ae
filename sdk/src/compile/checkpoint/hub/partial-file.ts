import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileSize } from "./hub-file.ts";

/** Owner of files that nobody is writing. No process has this id. */
const NOBODY = 0;

const nameOf = (hash: string, owner: number): string => `${hash}.${owner}-${randomUUID()}.incomplete`;

/** A file that is being downloaded. Its name contains the process that writes it. */
export interface PartialFile {
  readonly path: string;
  /** Leaves the file to the next download of the same content. */
  release(): Promise<void>;
}

/**
 * Returns a file to continue with: the longest one that an interrupted download of the same content left, or a new path.
 * Other files of that kind are removed. Processes that download the same file at the same time get different files.
 *
 * @param folder folder of incomplete files
 * @param hash hash of the complete file
 */
export async function claimPartialFile(folder: string, hash: string): Promise<PartialFile> {
  const path = join(folder, nameOf(hash, process.pid));
  let size = -1;
  for (const name of await readdir(folder)) {
    const [, owner] = /^[0-9a-f]+\.(\d+)-[\w-]+\.incomplete$/.exec(name) ?? [];
    if (owner === undefined || !name.startsWith(`${hash}.`) || isRunning(Number(owner))) continue;
    const found = join(folder, name);
    const length = (await fileSize(found)) ?? -1;
    if (length > size && (await moved(found, path))) size = length;
    else await rm(found, { force: true });
  }
  return {
    path,
    async release() {
      await moved(path, join(folder, nameOf(hash, NOBODY)));
    },
  };
}

/** Renames a file. Returns false if another process was faster, or if there is no file. */
const moved = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false,
  );

function isRunning(owner: number): boolean {
  if (owner === NOBODY) return false;
  try {
    process.kill(owner, 0);
    return true;
  } catch (error) {
    // EPERM: the process belongs to another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
