import { realpath } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { isAbsent } from "./absent.ts";

/**
 * Whether a path leads out of the folder `root`, because a folder on the way to it is a link. For a path that does not exist yet, the
 * nearest folder above it counts.
 */
export async function leadsOut(root: string, path: string): Promise<boolean> {
  const [base, target] = await Promise.all([existing(root), existing(path)]);
  // Before the first write, `root` does not exist either. Then both are the same folder above `root`.
  return target !== base && !target.startsWith(base.endsWith(sep) ? base : `${base}${sep}`);
}

/** Returns the real path of a file or folder. If it does not exist, returns that of the nearest folder above it. */
async function existing(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isAbsent(error) || dirname(path) === path) throw error;
    return existing(dirname(path));
  }
}
