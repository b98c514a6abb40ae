import { join, posix } from "node:path";
import * as v from "valibot";
import { isInnerPath } from "../../storage/inner-path.ts";
import { readTextSync } from "../files/regular-file.ts";

export const MODULES = "modules.json";

/** Path of a module's folder, without `./` and a slash at its end; empty for the model folder itself. */
const ModulePath = v.pipe(
  v.string(),
  v.transform((path) => posix.normalize(path).replace(/^\.\/?$|(?<=.)\/$/, "")),
  v.check((path) => path === "" || isInnerPath(path), "the path leads out of the model folder"),
);

const Entry = v.pipe(
  v.looseObject({ path: ModulePath, type: v.string(), name: v.optional(v.unknown()) }),
  v.transform((entry) => ({ ...entry, kind: entry.type.split(".").at(-1) as string })),
);

/**
 * Content of modules.json. `kind` is the class of a module without its package: `Pooling`. Of modules with the same name, the last
 * one runs in the place of the first, as in sentence-transformers.
 */
export const ModuleEntries = v.pipe(
  v.array(Entry),
  v.transform((entries) => [...new Map(entries.map((entry) => [entry.name ?? entry, entry] as const)).values()]),
);
export type ModuleEntries = v.InferOutput<typeof ModuleEntries>;

/** Modules with an encoder. */
export const transformerKinds = ["Transformer", "MLMTransformer"];

/**
 * Returns the path of the Transformer module, in which config.json, the tokenizer and the weights are. It is empty
 * for the model folder itself. Versions of sentence-transformers before 2.0 wrote `0_Transformer`.
 */
export const transformerPath = (modules: ModuleEntries): string =>
  modules.find(({ kind }) => transformerKinds.includes(kind))?.path ?? "";

/** Returns the folder in which a model folder has config.json, the tokenizer and the weights. */
export function transformerFolder(root: string): string {
  const path = transformerPath(listedModules(root));
  return path === "" ? root : join(root, path);
}

/** Reads modules.json; nothing if it cannot be read or is not valid, of which `readModules` tells. */
export function listedModules(root: string): ModuleEntries {
  try {
    return v.parse(ModuleEntries, JSON.parse(readTextSync(join(root, MODULES))));
  } catch {
    return [];
  }
}
