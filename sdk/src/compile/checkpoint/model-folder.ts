import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readJson } from "../files/json-file.ts";
import { type StoredFile, storedFile } from "../files/stored-file.ts";
import type { Tensor } from "../graph/tensor.ts";
import { configErrorCode } from "./config-error-code.ts";
import { readTensors } from "./read-tensors.ts";

/** Contents of tokenizer.json and tokenizer_config.json; `config` is empty if the second file does not exist. */
export interface TokenizerFiles {
  readonly json: object;
  readonly config: object;
}

export const WEIGHTS = "model.safetensors";

const AnyObject = v.looseObject({});

/** The class in transformers that config.json names. Other classes would leave out the head of the model. */
const Model = v.fallback(
  v.pipe(
    v.string(),
    v.parseJson(),
    v.object({ architectures: v.looseTuple([v.pipe(v.string(), v.regex(/^\w+$/))]) }),
    v.transform(({ architectures: [first] }) => first),
  ),
  "AutoModel",
);

/**
 * Reads a folder's config.json with a schema.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`; `checkpoint_unsupported` for a value that is not in the
 *   schema's list of values
 */
export const readConfig = async <S extends v.GenericSchema>(folder: string, schema: S): Promise<v.InferOutput<S>> =>
  (await readJson(folder, "config.json", schema, configErrorCode)) ?? missing(folder, "config.json");

/**
 * Reads a folder's tokenizer files.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`
 */
export async function readTokenizer(folder: string): Promise<TokenizerFiles> {
  const json = (await readJson(folder, "tokenizer.json", AnyObject)) ?? missing(folder, "tokenizer.json");
  const config = (await readJson(folder, "tokenizer_config.json", AnyObject)) ?? {};
  return { json, config };
}

/**
 * Returns a folder's tensors by name. Large tensors are read from model.safetensors at each access, so the file must
 * not change while the tensors are in use.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `safetensors_invalid`; `file_changed` when weights
 *   are used after the file has changed
 */
export function readWeights(folder: string): Map<string, Tensor> {
  const path = join(folder, WEIGHTS);
  let file: StoredFile;
  try {
    file = storedFile(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return missing(folder, WEIGHTS);
    throw new BertEdgeError("checkpoint_invalid", `${path} cannot be read.`, {
      hint: "Check that this is a file and that you have permission to read it.",
      cause,
    });
  }
  return readTensors(file, path);
}

/** Weights that PyTorch wrote. Reading them would run Python's pickle. */
const PICKLED = "pytorch_model.bin";

function missing(folder: string, file: string): never {
  if (file === WEIGHTS && existsSync(join(folder, PICKLED))) {
    const model = v.parse(Model, readFileSync(join(folder, "config.json"), "utf8"));
    throw new BertEdgeError("checkpoint_missing", `${folder} has ${PICKLED}, but no ${WEIGHTS}.`, {
      hint: `Save the model again as safetensors, in Python:\n    from transformers import ${model}\n    ${model}.from_pretrained("${folder}").save_pretrained("${folder}")`,
    });
  }
  throw new BertEdgeError("checkpoint_missing", `${join(folder, file)} does not exist.`, {
    hint:
      "Give a folder with config.json, tokenizer.json and model.safetensors, as transformers' save_pretrained() " +
      "writes them. A float32 model.onnx, as Optimum exports it, can replace model.safetensors.",
  });
}
