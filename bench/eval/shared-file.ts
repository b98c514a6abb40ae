import { existsSync } from "node:fs";
import { join, relative } from "node:path";

const REPOSITORY = join(import.meta.dirname, "../..");

/** The data of a task is not on this machine. */
export class DataMissing extends Error {
  override readonly name = "DataMissing";
}

/**
 * Returns the path of a file or folder in ../shared, which lies beside the repository and is not part of it.
 *
 * @throws DataMissing if it does not exist
 */
export function sharedFile(name: string): string {
  const path = join(REPOSITORY, "../shared", name);
  if (existsSync(path)) return path;
  throw new DataMissing(`${relative(REPOSITORY, path)} does not exist.`);
}
