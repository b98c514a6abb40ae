import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

/** Lists the files below a folder, as paths relative to it. */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

/**
 * Moves all files of one folder to another, which must be on the same disk. Each file is replaced at once, so at any time
 * every path has the old or the new file. A file with the same bytes is left alone, and nothing that watches it wakes up.
 *
 * @returns the paths of the files, relative to the folders
 */
export async function moveFiles(from: string, to: string): Promise<string[]> {
  const files = await filesOf(from);
  for (const file of files) {
    const target = join(to, file);
    const old = await readFile(target).catch(() => undefined);
    if (old?.equals(await readFile(join(from, file)))) continue;
    await mkdir(dirname(target), { recursive: true });
    await rename(join(from, file), target);
  }
  return files;
}

/** Removes the files below a folder that are not listed. */
export async function removeOthers(folder: string, files: readonly string[]): Promise<void> {
  const kept = new Set(files);
  for (const file of await filesOf(folder)) if (!kept.has(file)) await rm(join(folder, file));
}
