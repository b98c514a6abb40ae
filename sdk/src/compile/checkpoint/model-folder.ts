import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ErrorCode } from "../../artifact/error-codes.ts";
import { parseJson } from "../../artifact/parse-json.ts";
import { readJson } from "../files/json-file.ts";
import { type StoredFile, storedFile } from "../files/stored-file.ts";
import { MAX_JSON_BYTES, wholeTextSync } from "../files/whole-file.ts";
import type { Tensor } from "../graph/tensor.ts";
import { missingFile } from "./missing-file.ts";
import { lowerCased, readLowercases } from "./modules/transformer-config.ts";
import { conversionOf } from "./pickled/pickle-faults.ts";
import { readPickled } from "./pickled/read-pickled.ts";
import { readTensors } from "./read-tensors.ts";
import { AddedTokens, withAddedTokens, withListedTokens } from "./tokenizer/named-tokens.ts";
import { overruledTokenizer } from "./tokenizer/overruled-tokenizer.ts";

/** A folder's tokenizer. */
export interface TokenizerFiles {
  /** Content of tokenizer.json, with the changes that transformers makes when it loads the folder. */
  readonly json: object;
  /** Content of tokenizer_config.json, with the tokens of special_tokens_map.json; empty if there are no such files. */
  readonly config: object;
  /** Changes to tokenizer.json, as sentences. */
  readonly changes: readonly string[];
}

/** File that names the special tokens in folders that transformers before 4.34 wrote. */
export const SPECIAL_TOKENS = "special_tokens_map.json";
/** File that names the tokens added to the vocabulary in folders that transformers before 4.34 wrote. */
export const ADDED_TOKENS = "added_tokens.json";

export const WEIGHTS = "model.safetensors";

/** Weights that `torch.save` wrote. */
export const PICKLED = "pytorch_model.bin";

/** Index that names the file of each tensor, if the weights are in several files. */
export const SHARDS_INDEX = `${WEIGHTS}.index.json`;
export const PICKLED_INDEX = `${PICKLED}.index.json`;

/** Files with weights, or with the names of such files. transformers reads the first that exists. */
export const WEIGHT_FILES: readonly string[] = [WEIGHTS, SHARDS_INDEX, PICKLED, PICKLED_INDEX];

/** Schema of the index of a model's shards. All shards are in the model's folder, so their names must not contain slashes. */
const Shards = v.object({
  weight_map: v.record(v.string(), v.pipe(v.string(), v.regex(/^[\w.-]+\.(safetensors|bin)$/))),
});

const AnyObject = v.looseObject({});

/**
 * Reads a folder's config.json with a schema.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`; `checkpoint_unsupported` for a value that is not in the
 *   schema's list of values
 */
export const readConfig = async <S extends v.GenericSchema>(folder: string, schema: S): Promise<v.InferOutput<S>> =>
  (await readJson(folder, "config.json", schema, configErrorCode)) ?? missing(folder, "config.json");

/**
 * Reads a folder's tokenizer files. The tokenizer lower-cases texts if sentence-transformers' files say so.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`
 */
export async function readTokenizer(folder: string): Promise<TokenizerFiles> {
  const file = (await readJson(folder, "tokenizer.json", AnyObject)) ?? missing(folder, "tokenizer.json");
  const settings = (await readJson(folder, "tokenizer_config.json", AnyObject)) ?? {};
  const config = withListedTokens(settings, await readJson(folder, SPECIAL_TOKENS, AnyObject));
  const json = withAddedTokens(file, await readJson(folder, ADDED_TOKENS, AddedTokens), config);
  const model = (await readJson(folder, "config.json", AnyObject)) ?? {};
  const { json: used, changes } = overruledTokenizer(json, config, model);
  return { json: (await readLowercases(folder)) ? lowerCased(used) : used, config, changes };
}

/**
 * Returns a folder's tensors by name. Large tensors are read from their files at each access, so the files must not change
 * while the tensors are in use.
 *
 * @param modules subfolders of sentence-transformers' modules with further tensors; the names of these tensors begin with
 *   the path of their subfolder
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `safetensors_invalid`; `checkpoint_unsupported` for a
 *   pickle that has values other than tensors; `file_changed` when weights are used after the file has changed
 */
export function readWeights(folder: string, modules: readonly string[] = []): Map<string, Tensor> {
  const stored = readStored(folder, folder);
  const tensors = new Map([...stored].map(([name, tensor]) => [currentName(name), tensor] as const));
  for (const module of modules) {
    for (const [name, tensor] of readStored(join(folder, module), folder)) tensors.set(`${module}/${name}`, tensor);
  }
  return tensors;
}

/**
 * Current names of LayerNorm's parameters, by their older names. Checkpoints that were made with TensorFlow, such as the first
 * BERT, have the older names. transformers 5.2 writes them too.
 */
const namesOfTensorFlow: Readonly<Record<string, string>> = { gamma: "weight", beta: "bias" };

/** Returns a tensor's name as transformers' layers have it today. */
const currentName = (name: string): string =>
  name.replace(/(?<=LayerNorm\.)(gamma|beta)$/, (old) => namesOfTensorFlow[old] as string);

/**
 * Reads the weights of a folder from the file that transformers would read.
 *
 * @param model folder of the model: `folder` itself, or the model folder that contains the module `folder`
 */
function readStored(folder: string, model: string): Map<string, Tensor> {
  const found = WEIGHT_FILES.find((file) => existsSync(join(folder, file))) ?? WEIGHTS;
  return found.endsWith(".json") ? readShards(folder, found) : readFile(folder, found, model);
}

function readShards(folder: string, indexFile: string): Map<string, Tensor> {
  const index = join(folder, indexFile);
  const { weight_map } = parseJson(Shards, wholeTextSync(index, MAX_JSON_BYTES), {
    code: "checkpoint_invalid",
    what: `file ${index}`,
    hint: "Download or save the model again.",
  });
  const shards = new Map<string, Map<string, Tensor>>();
  const tensors = new Map<string, Tensor>();
  for (const [name, file] of Object.entries(weight_map)) {
    const shard = shards.get(file) ?? readFile(folder, file, folder);
    shards.set(file, shard);
    const tensor = shard.get(name);
    if (!tensor) {
      throw new BertEdgeError(
        "checkpoint_invalid",
        `${join(folder, file)} has no tensor ${name}, but ${index} names it.`,
        {
          hint: "The files belong to different versions of the model: download or save it again.",
        },
      );
    }
    tensors.set(name, tensor);
  }
  return tensors;
}

function readFile(folder: string, name: string, model: string): Map<string, Tensor> {
  const path = join(folder, name);
  let file: StoredFile;
  try {
    file = storedFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return missing(folder, name);
    throw new BertEdgeError("checkpoint_invalid", `${path} cannot be read.`, {
      hint: "Check that this is a file and that you have permission to read it.",
      cause,
    });
  }
  return name.endsWith(".bin") ? readPickled(file, path, () => conversionOf(model)) : readTensors(file, path);
}

function missing(folder: string, file: string): never {
  throw missingFile(folder, file);
}

/** Types of valibot's issues for a value that is not in a schema's list of values. */
const listed: readonly string[] = ["literal", "picklist", "null", "never"];

/**
 * Returns the error code for an issue in config.json. A value that is not in the schema's list of supported values is
 * unsupported, and so is a file that `supports` refuses. Other issues, such as a size that is no number, make the file
 * invalid.
 */
export const configErrorCode = (issue?: v.BaseIssue<unknown>): ErrorCode =>
  issue?.type === "raw_check" || (issue?.path && listed.includes(issue.type))
    ? "checkpoint_unsupported"
    : "checkpoint_invalid";
