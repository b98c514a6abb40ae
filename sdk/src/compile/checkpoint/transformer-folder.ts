import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import * as v from "valibot";
import { isInnerPath } from "../../storage/inner-path.ts";

/** The entries of modules.json, as far as the Transformer module is looked for. */
const ModuleList = v.array(v.object({ path: v.string(), type: v.optional(v.string(), "") }));
type ModuleList = v.InferOutput<typeof ModuleList>;

/** Names of the modules with an encoder: the last part of `type`. */
const TRANSFORMER = /(^|\.)(MLM)?Transformer$/;

/** Returns a module's path without `./` and a slash at its end; empty for the model folder itself. */
export const modulePath = (path: string): string => posix.normalize(path).replace(/^\.\/?$|(?<=.)\/$/, "");

/**
 * Returns the path of the Transformer module, in which config.json, the tokenizer and the weights are. It is empty
 * for the model folder itself. Versions of sentence-transformers before 2.0 wrote `0_Transformer`.
 *
 * @param modules content of modules.json
 */
export function transformerPath(modules: ModuleList): string {
  const found = modules.find(({ type }) => TRANSFORMER.test(type));
  const path = modulePath(found?.path ?? "");
  return isInnerPath(path) ? path : "";
}

/** Returns the folder in which a model folder has config.json, the tokenizer and the weights. */
export function transformerFolder(root: string): string {
  const path = transformerPath(modulesOf(join(root, "modules.json")));
  return path === "" ? root : join(root, path);
}

/** Reads modules.json; nothing if it cannot be read or is not valid, of which `readModules` tells. */
function modulesOf(path: string): ModuleList {
  try {
    return v.parse(ModuleList, JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return [];
  }
}
