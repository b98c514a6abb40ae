import { existsSync, statSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import * as v from "valibot";
import { isInnerPath } from "../../storage/inner-path.ts";
import { assertOnlyFiles } from "../files/regular-file.ts";
import { MAX_JSON_BYTES, wholeTextSync } from "../files/whole-file.ts";

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
 * Content of modules.json. `kind` is the class of a module without its package: `Pooling`. If modules have the same name, the
 * last one runs in the place of the first, as in sentence-transformers.
 */
export const ModuleEntries = v.pipe(
  v.array(Entry),
  v.transform((entries) => [...new Map(entries.map((entry) => [entry.name ?? entry, entry] as const)).values()]),
);
export type ModuleEntries = v.InferOutput<typeof ModuleEntries>;

/** Kinds of modules that contain the encoder. */
const transformerKinds = ["Transformer", "MLMTransformer"];

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

/** Reads modules.json; returns an empty list if the file is missing or not valid. `readModules` reports an invalid file. */
export function listedModules(root: string): ModuleEntries {
  try {
    return v.parse(ModuleEntries, JSON.parse(wholeTextSync(join(root, MODULES), MAX_JSON_BYTES)));
  } catch {
    return [];
  }
}

/** A model folder, and the ONNX file in it if the user named one. */
export interface ModelPlace {
  /** Folder with modules.json, if the model has this file. A local model gets the name of this folder. */
  readonly root: string;
  /** Folder with config.json, the tokenizer and the weights: `root`, or the folder of its Transformer module. */
  readonly folder: string;
  /** Path of the ONNX file; undefined if only the folder was named. */
  readonly onnx: string | undefined;
}

/** Files that describe a model, the rarest first. The rarest file that exists decides which of two folders is the model's. */
const DESCRIPTIONS = ["modules.json", "tokenizer.json", "config.json"];

/**
 * Finds the folder that a path to a model means. For an ONNX file it is the file's folder, as Optimum writes it, or the
 * folder above it, as models on the Hugging Face Hub have it. The folder with modules.json is preferred, then the
 * folder with tokenizer.json, then the nearer folder.
 *
 * @throws BertEdgeError `checkpoint_invalid` if the folder has a pipe, a socket or a device
 */
export function modelPlace(path: string): ModelPlace {
  if (!path.endsWith(".onnx") || isFolder(path)) return { ...onlyFiles(inFolder(path)), onnx: undefined };
  const beside = dirname(path);
  const places = [beside, dirname(resolve(beside))]
    .map(inFolder)
    .filter(({ folder }) => existsSync(join(folder, "config.json")));
  for (const file of DESCRIPTIONS) {
    const place = places.find(({ root }) => existsSync(join(root, file)));
    if (place !== undefined) return { ...onlyFiles(place), onnx: path };
  }
  return { root: beside, folder: beside, onnx: path };
}

type Place = Pick<ModelPlace, "root" | "folder">;

const inFolder = (root: string): Place => ({ root, folder: transformerFolder(root) });

/** Checks only the chosen folder. The other folder, such as `/tmp`, may have pipes, sockets or devices. */
function onlyFiles(place: Place): Place {
  assertOnlyFiles(place.root);
  return place;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
