import { type Dirent, existsSync } from "node:fs";
import { join } from "node:path";
import { readTextSync } from "../../files/regular-file.ts";
import type { Instead } from "./instead.ts";

/**
 * Finds model folders in a folder that have a file, such as 0_Transformer or a checkpoint of a training. Folders of other
 * modules, such as 1_Pooling, have a config.json too, but without model_type.
 */
export function modelsBelow(folder: string, entries: readonly Dirent[], file: string): Instead | undefined {
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
    .filter((path) => existsSync(join(path, file)) && hasModelType(join(path, "config.json")))
    .toSorted();
  const [first] = below;
  if (first === undefined) return undefined;
  const poolings = entries.filter(({ name }) => /^\d+_Pooling$/.test(name)).map(({ name }) => `${name}/config.json`);
  const pooling = poolings.length > 0 ? ` --pooling then chooses the pooling that ${poolings.join(" or ")} has.` : "";
  return {
    but: `${join(first, file)} does`,
    hint: `Give the path of ${below.length > 1 ? "one of these folders" : "this folder"}: ${below.join(", ")}.${pooling}`,
  };
}

function hasModelType(path: string): boolean {
  try {
    return readTextSync(path).includes('"model_type"');
  } catch {
    return false;
  }
}
