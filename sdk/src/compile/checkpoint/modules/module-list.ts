import { BertEdgeError } from "../../../artifact/error.ts";
import { readJson } from "../../files/json-file.ts";
import { MODULES, ModuleEntries } from "../transformer-folder.ts";

/** A module of sentence-transformers. */
export interface Module {
  /** The class without its package: `Pooling`. */
  readonly kind: string;
  /** Folder of its files, without `./` and a slash at the end; empty for the model folder itself. */
  readonly path: string;
}

/** Modules in the order in which they run. */
export interface ModuleList {
  readonly transformer: Module;
  readonly pooling: Module | undefined;
  readonly splade: Module | undefined;
  readonly dense: readonly Module[];
  readonly normalize: readonly Module[];
  /** Whether PyLate wrote one of the modules. */
  readonly isPyLate: boolean;
}

/** Supported modules: the last part of `type` in modules.json. */
const kinds = ["Transformer", "MLMTransformer", "Pooling", "Normalize", "SpladePooling", "Dense", "Dropout"];

/** Packages whose modules are known. Names differ from version to version, and their last part is always the class. */
const ofLibrary = /^(sentence_transformers|pylate)\./;

/** The sequences of modules that are computed. `M` stands for MLMTransformer. */
const sequences = /^(?:(?:T|M)|TPN*|(?:T|M)S|TD+N*)$/;
const letters: Readonly<Record<string, string>> = {
  Transformer: "T",
  MLMTransformer: "M",
  Pooling: "P",
  SpladePooling: "S",
  Dense: "D",
  Normalize: "N",
};

/**
 * Reads modules.json.
 *
 * @returns undefined if there is no such file
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for other modules, and for another order
 */
export async function readModuleList(folder: string): Promise<ModuleList | undefined> {
  const modules = await readJson(folder, MODULES, ModuleEntries);
  if (!modules) return undefined;
  const other = modules.find(({ kind, type }) => !kinds.includes(kind) || !ofLibrary.test(type));
  if (other) throw unsupportedModules(folder, `the module ${other.type}`);
  // Dropout changes vectors in training only.
  const running = modules.filter(({ kind }) => kind !== "Dropout");
  const order = running.map(({ kind }) => kind);
  if (!sequences.test(order.map((kind) => letters[kind]).join(""))) {
    throw unsupportedModules(folder, `the sequence of modules ${order.join(" → ") || "(none)"}`);
  }
  const all = (kind: string) => running.filter((module) => module.kind === kind);
  return {
    transformer: running[0] as Module,
    pooling: all("Pooling")[0],
    splade: all("SpladePooling")[0],
    dense: all("Dense"),
    normalize: all("Normalize"),
    isPyLate: modules.some(({ type }) => type.startsWith("pylate.")),
  };
}

export const unsupportedModules = (folder: string, what: string): BertEdgeError =>
  new BertEdgeError("checkpoint_unsupported", `${folder}: ${what} is not supported so far.`, {
    hint:
      "Supported sequences of modules: Transformer → Pooling with one mode (mean, cls, max or lasttoken) → Normalize; " +
      "Transformer → SpladePooling (max of relu); Transformer → Dense, one or more (token vectors). Normalize may be missing.",
  });
