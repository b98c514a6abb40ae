import { basename, dirname, resolve } from "node:path";

/** A commit's folder in the cache of Hugging Face's tools: `models--org--name/snapshots/<commit>`. */
const COMMIT = /^[0-9a-f]{40}$/;
const CACHED = /^models--(?:.+--)?(?<name>.+)$/;

/** Returns the name of a model's folder. In a cache of the Hugging Face Hub, that is the model's name, not the commit. */
export function folderName(folder: string): string {
  const path = resolve(folder);
  const snapshots = dirname(path);
  const isSnapshot = COMMIT.test(basename(path)) && basename(snapshots) === "snapshots";
  const cached = isSnapshot ? CACHED.exec(basename(dirname(snapshots))) : null;
  return cached?.groups?.["name"] ?? basename(path);
}
