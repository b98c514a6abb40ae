import { basename, join } from "node:path/posix";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { ADAPTER_CONFIG } from "../adapter.ts";
import { vocabularyFiles } from "../missing-file.ts";
import {
  ADDED_TOKENS,
  PICKLED,
  PICKLED_INDEX,
  SHARDS_INDEX,
  SPECIAL_TOKENS,
  WEIGHT_FILES,
  WEIGHTS,
} from "../model-folder.ts";
import { MODULES } from "../model-place.ts";
import { transformerFiles } from "../modules/key-tables.ts";
import type { HubFile } from "./hub-file.ts";

/** Files that describe a model: its layers, its tokenizer, and how sentence-transformers uses it. */
const DESCRIPTIONS = [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  SPECIAL_TOKENS,
  ADDED_TOKENS,
  MODULES,
  ...transformerFiles,
  "config_sentence_transformers.json",
  "artifact.metadata",
];

/** Places of the float32 export, in the order in which they are tried. */
const EXPORTS = ["model.onnx", "onnx/model.onnx"];

type Files = readonly HubFile[];

const find = (files: Files, path: string): HubFile | undefined => files.find((file) => file.path === path);

/** Returns the file from which transformers reads a folder's weights: a weight file, or the index of several weight files. */
const firstWeights = (files: Files, folder: string): HubFile | undefined =>
  WEIGHT_FILES.map((name) => find(files, join(folder, name))).find((file) => file !== undefined);

/**
 * Returns the index of the weights, if they are in several files.
 *
 * @param folder folder of the Transformer module; empty for the model's own folder
 */
export function indexFile(files: Files, folder: string): HubFile | undefined {
  const first = firstWeights(files, folder);
  return first && [SHARDS_INDEX, PICKLED_INDEX].includes(basename(first.path)) ? first : undefined;
}

/** Returns modules.json, which says in which folder the Transformer module is; undefined if there is none. */
export const modulesFile = (files: Files): HubFile | undefined => find(files, MODULES);

/**
 * Chooses the files that are read first, because they say which other files are needed.
 *
 * @param folder folder of the Transformer module
 */
export function descriptionFiles(files: Files, folder: string): HubFile[] {
  const places = [...new Set([...DESCRIPTIONS, ...DESCRIPTIONS.map((name) => join(folder, name))])];
  return files.filter((file) => places.includes(file.path) || file === indexFile(files, folder));
}

/** The model that files are chosen for. */
interface ChosenModel {
  /** `organization/model` */
  readonly name: string;
  /** ONNX file that the user named. */
  readonly file: string | undefined;
  /** Folder of the Transformer module. */
  readonly folder: string;
  /** Folders that modules.json names, except the folder of the Transformer module. */
  readonly modules: readonly string[];
  /** Files that the index of the weights names. */
  readonly shards: readonly string[];
}

/**
 * Chooses the weights, and the files in folders of modules.json. Weights are the ONNX file that the user named, else
 * safetensors, else pytorch_model.bin, else the float32 ONNX export.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export function weightFiles(files: Files, { name, folder, modules, shards, file: onnx }: ChosenModel): HubFile[] {
  const ofModules = modules.flatMap((module) => [
    find(files, join(module, "config.json")),
    firstWeights(files, module),
  ]);
  return [...ofModules.filter((file) => file !== undefined), ...weightsOf()];

  function weightsOf(): HubFile[] {
    if (onnx !== undefined) return withData(required(onnx));
    if (shards.length > 0) return shards.map((shard) => required(join(folder, shard)));
    const whole = firstWeights(files, folder);
    if (whole) return [whole];
    const exported = EXPORTS.map((path) => find(files, join(folder, path))).find((file) => file !== undefined);
    if (exported) return withData(exported);
    throw noWeights(files, name);
  }

  function required(path: string): HubFile {
    const file = find(files, path);
    if (file) return file;
    throw new BertEdgeError("checkpoint_missing", `${name} has no file ${path}.`, {
      hint: `Its weight files: ${listed(files, /\.(onnx|safetensors|bin)$/) || "none"}.`,
    });
  }

  /** Adds an export's external data: model.onnx_data, model.onnx.data and the like. */
  function withData(exported: HubFile): HubFile[] {
    const data = files.filter(
      ({ path }) => path.startsWith(exported.path) && /^[._]data/.test(path.slice(exported.path.length)),
    );
    return [exported, ...data];
  }
}

const listed = (files: Files, pattern: RegExp): string =>
  files
    .map(({ path }) => path)
    .filter((path) => pattern.test(path))
    .join(", ");

const noWeights = (files: Files, name: string): BertEdgeError =>
  new BertEdgeError("checkpoint_missing", `${name} has neither ${[WEIGHTS, PICKLED, ...EXPORTS].join(" nor ")}.`, {
    hint: `Its large files: ${listed(files, /\.(h5|msgpack|ot|bin|gguf|onnx|pt|safetensors)$/) || "none"}. Give a model with safetensors, or the address of an ONNX file in it. The Hub's converter puts safetensors into a pull request: if the model's page has one, give ${name}@refs/pr/<its number>.`,
  });

interface Model extends HubModel {
  /** Folder of the Transformer module; empty for the model's own folder. */
  readonly folder: string;
}

/**
 * Refuses a model of the Hub whose files bert-edge can read only after a conversion with Python. The check needs only the
 * list of files, so it runs before large files are downloaded.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for an adapter, `checkpoint_missing` for a model without tokenizer.json
 */
export function assertReadable(files: readonly HubFile[], model: Model): void {
  const has = (name: string) => files.some(({ path }) => path === join(model.folder, name));
  const { name, file } = model;
  if (file === undefined && has(ADAPTER_CONFIG)) {
    const what = has("config.json") ? "besides its model" : "but no model";
    throw new BertEdgeError("checkpoint_unsupported", `${name} has an adapter (${ADAPTER_CONFIG}), ${what}.`, {
      hint: `${download(model)} The error for this folder has the command that merges the adapter into its model.`,
    });
  }
  const vocabulary = vocabularyFiles.find(has);
  if (!has("tokenizer.json") && vocabulary !== undefined) {
    throw new BertEdgeError("checkpoint_missing", `${name} has ${vocabulary}, but no tokenizer.json.`, {
      hint: `${download(model)} Then give this folder instead: the error says which command makes tokenizer.json.`,
    });
  }
}

function download({ name, revision }: Model): string {
  const to = `./${name.split("/").at(-1)}`;
  const at = revision === "main" ? "" : ` --revision ${revision}`;
  return `Download it with \`hf download ${name}${at} --local-dir ${to}\`, and prepare ${to}.`;
}
