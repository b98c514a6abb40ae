import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Pooling } from "../../../artifact/manifest.ts";
import { readJson } from "../../files/json-file.ts";
import { MODULES, ModuleEntries } from "../model-place.ts";

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

/** Packages whose modules are known. The names of modules differ between versions, but the last part is always the class. */
const ofLibrary = /^(sentence_transformers|pylate)\./;

/** Supported sequences of modules. Each module is one of the `letters`. */
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
  // Leaves Dropout out, because it changes vectors in training only.
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

/**
 * Value of `pooling_mode`, a key of sentence-transformers 5.4 and newer: one mode, or several modes whose vectors are
 * concatenated.
 */
const PoolingMode = v.nullish(v.union([v.string(), v.array(v.string())]));
const PoolingConfig = v.looseObject({ pooling_mode: PoolingMode, include_prompt: v.nullish(v.boolean()) });

/**
 * Supported pooling modes. The first four keys are values of `pooling_mode` in sentence-transformers 5.4 and newer. The
 * other keys are switches (true or false) of older versions.
 */
const poolings: Readonly<Record<string, Pooling>> = {
  mean: "mean",
  cls: "cls",
  max: "max",
  lasttoken: "last",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_lasttoken: "last",
};

/** Configuration of a Pooling module. */
interface PoolingConfig {
  readonly pooling: Pooling;
  /** Whether the tokens of a prompt are pooled with those of the text. */
  readonly poolsPrompt: boolean;
}

/** @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for other pooling modes */
export async function readPooling(folder: string, { path }: Module): Promise<PoolingConfig> {
  const file = join(path, "config.json");
  const config = await readJson(folder, file, PoolingConfig);
  if (!config) {
    throw new BertEdgeError(
      "checkpoint_invalid",
      `modules.json names ${join(folder, file)}, but this file does not exist.`,
      { hint: "Copy the whole model folder, with its subfolders such as 1_Pooling." },
    );
  }
  const switches = Object.keys(config).filter((key) => key.startsWith("pooling_mode_"));
  const chosen = switches.length > 0 ? switches.filter((key) => config[key] === true) : "mean";
  const modes = [config.pooling_mode ?? chosen].flat();
  const [first = ""] = modes;
  const pooling = Object.hasOwn(poolings, first) ? poolings[first] : undefined;
  if (!pooling || modes.length !== 1) throw unsupportedModules(folder, `the pooling ${modes.join(" + ") || "(none)"}`);
  return { pooling, poolsPrompt: config.include_prompt ?? true };
}
