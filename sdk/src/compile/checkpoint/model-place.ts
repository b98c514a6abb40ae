import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { assertOnlyFiles } from "../files/only-files.ts";
import { transformerFolder } from "./transformer-folder.ts";

/** A model folder, and the ONNX file in it that was named. */
export interface ModelPlace {
  /** Folder with modules.json, if the model has one. It names the model. */
  readonly root: string;
  /** Folder with config.json, the tokenizer and the weights: `root`, or the folder of its Transformer module. */
  readonly folder: string;
  /** Path of the ONNX file; undefined if only the folder was named. */
  readonly onnx: string | undefined;
}

/** Files that describe a model, the rarest first. A folder with more of them is more likely the model's folder. */
const DESCRIPTIONS = ["modules.json", "tokenizer.json", "config.json"];

/**
 * Finds the folder that a path to a model means. For an ONNX file it is the file's folder, as Optimum writes it, or the
 * folder above it, as models on the Hugging Face Hub have it. The one that has modules.json is preferred, then the one
 * with tokenizer.json, then the nearer one.
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

/** Checks the folder that was chosen. Others, such as `/tmp`, may have anything. */
function onlyFiles(place: Place): Place {
  assertOnlyFiles(place.root);
  return place;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
