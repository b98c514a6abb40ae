import { dirname } from "node:path/posix";
import { BertEdgeError } from "../../../artifact/error.ts";
import { convertCommand } from "../../files/convert-command.ts";
import { SHARDS_INDEX, WEIGHTS } from "../model-folder.ts";
import { transformerFiles } from "../modules/key-tables.ts";
import type { HubFile } from "./hub-file.ts";

/** Files that describe a model: its layers, its tokenizer, and how sentence-transformers uses it. */
const DESCRIPTIONS = [
  "config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "modules.json",
  ...transformerFiles,
  "config_sentence_transformers.json",
  "artifact.metadata",
];

/** Places of the float32 export, in the order in which they are tried. */
const EXPORTS = ["model.onnx", "onnx/model.onnx"];

/** Weights that PyTorch wrote. Reading them would run Python's pickle. */
const PICKLED = /^pytorch_model.*\.bin(\.index\.json)?$/;

type Files = readonly HubFile[];

const find = (files: Files, path: string): HubFile | undefined => files.find((file) => file.path === path);

/** Chooses the files that are read before it is known which other files are needed. */
export const descriptionFiles = (files: Files): HubFile[] =>
  files.filter(({ path }) => DESCRIPTIONS.includes(path) || (path === SHARDS_INDEX && !find(files, WEIGHTS)));

/** The model that files are chosen for. */
export interface ChosenModel {
  /** `organization/model` */
  readonly name: string;
  readonly revision: string;
  /** ONNX file that the user named. */
  readonly file: string | undefined;
  /** The class in transformers that config.json names. */
  readonly architecture: string | undefined;
  /** Folders that modules.json names. */
  readonly modules: readonly string[];
  /** Files that model.safetensors.index.json names. */
  readonly shards: readonly string[];
}

/**
 * Chooses the weights, and the files in folders of modules.json. Weights are safetensors if there are any, else the
 * float32 ONNX export.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export function weightFiles(files: Files, model: ChosenModel): HubFile[] {
  const { name, modules, shards, file: onnx } = model;
  const ofModules = files.filter(
    ({ path }) => modules.includes(dirname(path)) && (path.endsWith("/config.json") || path.endsWith(".safetensors")),
  );
  return [...ofModules, ...weightsOf()];

  function weightsOf(): HubFile[] {
    if (onnx !== undefined) return withData(required(onnx));
    const whole = find(files, WEIGHTS);
    if (whole) return [whole];
    if (shards.length > 0) return shards.map(required);
    const exported = EXPORTS.map((path) => find(files, path)).find((file) => file !== undefined);
    if (exported) return withData(exported);
    throw files.some(({ path }) => PICKLED.test(path)) ? pickled(model) : noWeights(files, name);
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

const pickled = ({ name, revision, architecture, modules }: ChosenModel): BertEdgeError => {
  const to = `./${name.split("/").at(-1)}`;
  const command = convertCommand({ from: name, revision, to, architecture, isSentenceEncoder: modules.length > 0 });
  return new BertEdgeError("checkpoint_missing", `${name} has only weights that PyTorch pickled, and no ${WEIGHTS}.`, {
    hint: `Reading them can run any code, so bert-edge does not. If you trust the model, save it as safetensors with its own tools, then give ${to}:\n    ${command}`,
  });
};

const listed = (files: Files, pattern: RegExp): string =>
  files
    .map(({ path }) => path)
    .filter((path) => pattern.test(path))
    .join(", ");

const noWeights = (files: Files, name: string): BertEdgeError =>
  new BertEdgeError("checkpoint_missing", `${name} has neither ${WEIGHTS} nor ${EXPORTS.join(" nor ")}.`, {
    hint: `Its large files: ${listed(files, /\.(h5|msgpack|ot|bin|gguf|onnx|pt|safetensors)$/) || "none"}. Give a model with safetensors, or the address of an ONNX file in it.`,
  });
