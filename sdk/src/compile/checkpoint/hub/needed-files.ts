import { join } from "node:path/posix";
import { BertEdgeError } from "../../../artifact/error.ts";
import { PICKLED, PICKLED_INDEX, SHARDS_INDEX, WEIGHT_FILES, WEIGHTS } from "../model-folder.ts";
import type { HubFile } from "./hub-file.ts";

/** Files that describe a model: its layers, its tokenizer, and how sentence-transformers uses it. */
const DESCRIPTIONS = [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "modules.json",
  "sentence_bert_config.json",
  "config_sentence_transformers.json",
];

/** Places of the float32 export, in the order in which they are tried. */
const EXPORTS = ["model.onnx", "onnx/model.onnx"];

type Files = readonly HubFile[];

const find = (files: Files, path: string): HubFile | undefined => files.find((file) => file.path === path);

/** Returns the file with weights that transformers reads, or the index of such files. */
const firstWeights = (files: Files, folder = ""): HubFile | undefined =>
  WEIGHT_FILES.map((name) => find(files, join(folder, name))).find((file) => file !== undefined);

/** Returns the index of the weights, if they are in several files. */
export function indexFile(files: Files): HubFile | undefined {
  const first = firstWeights(files);
  return first?.path === SHARDS_INDEX || first?.path === PICKLED_INDEX ? first : undefined;
}

/** Chooses the files that are read before it is known which other files are needed. */
export const descriptionFiles = (files: Files): HubFile[] =>
  files.filter((file) => DESCRIPTIONS.includes(file.path) || file === indexFile(files));

/** The model that files are chosen for. */
export interface ChosenModel {
  /** `organization/model` */
  readonly name: string;
  /** ONNX file that the user named. */
  readonly file: string | undefined;
  /** Folders that modules.json names. */
  readonly modules: readonly string[];
  /** Files that the index of the weights names. */
  readonly shards: readonly string[];
}

/**
 * Chooses the weights, and the files in folders of modules.json. Weights are safetensors if there are any, else
 * pytorch_model.bin, else the float32 ONNX export.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export function weightFiles(files: Files, { name, modules, shards, file: onnx }: ChosenModel): HubFile[] {
  const ofModules = modules.flatMap((folder) => [
    find(files, join(folder, "config.json")),
    firstWeights(files, folder),
  ]);
  return [...ofModules.filter((file) => file !== undefined), ...weightsOf()];

  function weightsOf(): HubFile[] {
    if (onnx !== undefined) return withData(required(onnx));
    if (shards.length > 0) return shards.map(required);
    const whole = firstWeights(files);
    if (whole) return [whole];
    const exported = EXPORTS.map((path) => find(files, path)).find((file) => file !== undefined);
    if (exported) return withData(exported);
    throw noWeights(files, name);
  }

  function required(path: string): HubFile {
    const file = find(files, path);
    if (file) return file;
    throw new BertEdgeError("checkpoint_missing", `${name} has no file ${path}.`, {
      hint: `ONNX files in it: ${listed(files, /\.onnx$/) || "none"}.`,
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
    hint: `Its large files: ${listed(files, /\.(h5|msgpack|ot|bin|gguf|onnx|pt|safetensors)$/) || "none"}. Give a model with safetensors, or the address of an ONNX file in it.`,
  });
