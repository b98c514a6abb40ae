import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Tensor } from "../graph/tensor.ts";
import { readJson } from "./json-file.ts";
import { parseSafetensors } from "./safetensors.ts";

/** tokenizer.json and, empty where there is none, tokenizer_config.json. */
export interface TokenizerFiles {
  readonly json: object;
  readonly config: object;
}

const AnyObject = v.looseObject({});

/**
 * What a folder's config.json says in a schema's terms.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`
 */
export const readConfig = async <S extends v.GenericSchema>(folder: string, schema: S): Promise<v.InferOutput<S>> =>
  (await readJson(folder, "config.json", schema)) ?? missing(folder, "config.json");

/** @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid` */
export async function readTokenizer(folder: string): Promise<TokenizerFiles> {
  const json = (await readJson(folder, "tokenizer.json", AnyObject)) ?? missing(folder, "tokenizer.json");
  const config = (await readJson(folder, "tokenizer_config.json", AnyObject)) ?? {};
  return { json, config };
}

/**
 * A folder's tensors by name, views of its model.safetensors in memory.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `safetensors_invalid`
 */
export async function readWeights(folder: string): Promise<Map<string, Tensor>> {
  const path = join(folder, "model.safetensors");
  const file = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return missing(folder, "model.safetensors");
    throw new BertEdgeError("checkpoint_invalid", `${path} cannot be read.`, { cause: error });
  });
  return parseSafetensors(file, path);
}

function missing(folder: string, file: string): never {
  throw new BertEdgeError("checkpoint_missing", `${join(folder, file)} does not exist.`, {
    hint: "Give a folder with config.json, model.safetensors and tokenizer.json, as save_pretrained(folder) writes it.",
  });
}
