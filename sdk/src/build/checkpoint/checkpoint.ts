import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Tensor } from "../graph/tensor.ts";
import { EncoderConfig } from "./encoder-config.ts";
import { readJson } from "./json-file.ts";
import { parseSafetensors } from "./safetensors.ts";
import { readSentenceHead, type SentenceHead } from "./sentence-transformers.ts";

/** What of a model folder decides its computation. */
export interface Encoder {
  readonly folder: string;
  readonly config: EncoderConfig;
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** A Hugging Face model folder in memory. */
export interface Checkpoint extends Encoder {
  readonly head: SentenceHead;
  readonly tokenizer: { readonly json: object; readonly config: object };
}

const AnyObject = v.looseObject({});

/**
 * Reads config.json, model.safetensors, tokenizer.json and the sentence-transformers files of a folder.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`, `safetensors_invalid`
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const config = await readConfig(folder);
  const json = (await readJson(folder, "tokenizer.json", AnyObject)) ?? missing(folder, "tokenizer.json");
  const tokenizerConfig = (await readJson(folder, "tokenizer_config.json", AnyObject)) ?? {};
  const head = await readSentenceHead(folder);
  return { folder, config, weights: await readWeights(folder), head, tokenizer: { json, config: tokenizerConfig } };
}

/**
 * Reads config.json and model.safetensors alone.
 *
 * @throws BertEdgeError as `readCheckpoint`
 */
export async function readEncoder(folder: string): Promise<Encoder> {
  return { folder, config: await readConfig(folder), weights: await readWeights(folder) };
}

const readConfig = async (folder: string): Promise<EncoderConfig> =>
  (await readJson(folder, "config.json", EncoderConfig)) ?? missing(folder, "config.json");

async function readWeights(folder: string): Promise<Map<string, Tensor>> {
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
