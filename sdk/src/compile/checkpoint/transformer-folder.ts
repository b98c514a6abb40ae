import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import * as v from "valibot";
import { isInnerPath } from "../../storage/inner-path.ts";

/** The Transformer module in modules.json. Other modules are of no interest here. */
const ModuleList = v.pipe(v.string(), v.parseJson(), v.array(v.looseObject({ path: v.string(), type: v.string() })));

/** Names of the modules with an encoder: the last part of `type`. */
const TRANSFORMER = /(^|\.)(MLM)?Transformer$/;

/** Returns a module's path without `./` and a slash at its end; empty for the model folder itself. */
export const modulePath = (path: string): string => posix.normalize(path).replace(/^\.\/?$|(?<=.)\/$/, "");

/**
 * Returns the path of the Transformer module, in which config.json, the tokenizer and the weights are. It is empty
 * for the model folder itself. Versions of sentence-transformers before 2.0 wrote `0_Transformer`.
 *
 * @param modules content of modules.json. A file that `readModules` refuses counts as one without a path.
 */
export function transformerPath(modules: string): string {
  const listed = v.safeParse(ModuleList, modules);
  const found = listed.success ? listed.output.find(({ type }) => TRANSFORMER.test(type)) : undefined;
  const path = modulePath(found?.path ?? "");
  return isInnerPath(path) ? path : "";
}

/** Returns the folder in which a model folder has config.json, the tokenizer and the weights. */
export function transformerFolder(root: string): string {
  const path = transformerPath(textOf(join(root, "modules.json")));
  return path === "" ? root : join(root, path);
}

/** Returns the text of a file; empty if it cannot be read, of which `readModules` tells. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
