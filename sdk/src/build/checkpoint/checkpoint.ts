import type { Tensor } from "../graph/tensor.ts";
import { expectHead } from "./architectures.ts";
import { EncoderConfig } from "./encoder-config.ts";
import { readConfig, readTokenizer, readWeights, type TokenizerFiles } from "./model-folder.ts";
import { readSentenceHead, type SentenceHead } from "./sentence-transformers.ts";

/** What of a model folder decides its computation. */
export interface Encoder {
  readonly folder: string;
  readonly config: EncoderConfig;
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** A Hugging Face model folder. */
export interface Checkpoint extends Encoder {
  readonly head: SentenceHead;
  readonly tokenizer: TokenizerFiles;
}

/**
 * Reads config.json, model.safetensors, tokenizer.json and the sentence-transformers files of a folder.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`, `safetensors_invalid`
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const config = await readEncoderConfig(folder);
  const tokenizer = await readTokenizer(folder);
  const head = await readSentenceHead(folder);
  return { folder, config, weights: readWeights(folder), head, tokenizer };
}

/**
 * Reads config.json and model.safetensors alone.
 *
 * @throws BertEdgeError as `readCheckpoint`
 */
export async function readEncoder(folder: string): Promise<Encoder> {
  return { folder, config: await readEncoderConfig(folder), weights: readWeights(folder) };
}

async function readEncoderConfig(folder: string): Promise<EncoderConfig> {
  const config = await readConfig(folder, EncoderConfig);
  await expectHead(folder, "none");
  return config;
}
