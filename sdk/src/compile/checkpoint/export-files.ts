import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { WEIGHT_FILES } from "./model-folder.ts";

/**
 * Paths of the float32 export in a model folder. transformers and Optimum write the first, transformers.js reads the
 * second.
 */
const PLACES = ["model.onnx", join("onnx", "model.onnx")];

/** Folder of the exports of models on the Hugging Face Hub. */
const SUBFOLDER = "onnx";

/**
 * Returns the paths of the ONNX files that may hold a folder's model, in the order in which they are tried: first the usual
 * paths of the float32 export, then others. Returns no paths if the folder has a file of `WEIGHT_FILES`.
 */
export async function exportFiles(folder: string): Promise<string[]> {
  const files = await filesIn(folder);
  if (files.some((file) => WEIGHT_FILES.includes(file))) return [];
  const inSubfolder = (await filesIn(join(folder, SUBFOLDER))).map((file) => join(SUBFOLDER, file));
  const found = [...files, ...inSubfolder].filter((file) => file.endsWith(".onnx"));
  const named = PLACES.filter((place) => found.includes(place));
  const others = found.filter((file) => !named.includes(file)).toSorted();
  return [...named, ...others].map((file) => join(folder, file));
}

const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
};

/** A file that cannot be used, and the reason. */
interface UnfitExport {
  readonly path: string;
  readonly error: BertEdgeError;
}

/** The first file of several that can be read. */
export interface FirstExport<T> {
  readonly path: string;
  readonly read: T;
  /** Files before it, which cannot be read. */
  readonly unfit: readonly UnfitExport[];
  /** Files after it, which were not tried. */
  readonly untried: readonly string[];
}

/**
 * Reads the first of several ONNX files that is a usable export.
 *
 * @throws BertEdgeError `export_unsupported` with the reason for each file, if no file is usable. Any other error of `read`,
 *   such as the error for a damaged file
 */
export async function readFirst<T>(
  folder: string,
  paths: readonly string[],
  read: (path: string) => Promise<T>,
): Promise<FirstExport<T>> {
  const unfit: UnfitExport[] = [];
  for (const [i, path] of paths.entries()) {
    try {
      return { path, read: await read(path), unfit, untried: paths.slice(i + 1) };
    } catch (error) {
      if (!(error instanceof BertEdgeError) || error.code !== "export_unsupported") throw error;
      unfit.push({ path, error });
    }
  }
  const [first] = unfit;
  if (first && unfit.length === 1) throw first.error;
  throw new BertEdgeError(
    "export_unsupported",
    [`${folder} has no ONNX file that can be prepared:`, ...unfit.map(({ error }) => error.message)].join("\n    "),
    { hint: first?.error.hint },
  );
}
