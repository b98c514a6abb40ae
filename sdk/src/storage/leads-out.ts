import { realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { isAbsent } from "./absent.ts";

/**
 * Whether a path leads out of a folder, because one of the folders between them is a link. A path that does not exist yet leads where
 * the folder leads in which it would be created.
 */
export async function leadsOut(root: string, path: string): Promise<boolean> {
  const [base, target] = await Promise.all([existing(root), existing(path)]);
  // Before the first write there is no root either, and both are the same folder above it.
  return target !== base && !target.startsWith(base.endsWith(sep) ? base : `${base}${sep}`);
}

/** Returns the real path of a file or folder, or of the folder above it that exists. */
async function existing(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isAbsent(error) || dirname(path) === path) throw error;
    return existing(dirname(path));
  }
}
