import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A model folder, and the ONNX file in it that was named. */
export interface ModelPlace {
  /** Folder with config.json and the tokenizer. */
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
 */
export function modelPlace(path: string): ModelPlace {
  if (!path.endsWith(".onnx")) return { folder: path, onnx: undefined };
  const beside = dirname(path);
  const folders = [beside, dirname(resolve(beside))].filter((folder) => existsSync(join(folder, "config.json")));
  for (const file of DESCRIPTIONS) {
    const folder = folders.find((each) => existsSync(join(each, file)));
    if (folder !== undefined) return { folder, onnx: path };
  }
  return { folder: beside, onnx: path };
}
