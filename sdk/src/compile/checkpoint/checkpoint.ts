import type { Tensor } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { readEncoderConfig } from "./encoder-config-file.ts";
import { readTokenizer, readWeights, type TokenizerFiles } from "./model-folder.ts";
import { type Modules, readModules } from "./sentence-transformers.ts";

/** An encoder's configuration and weights, and the folder that they come from. */
export interface Encoder {
  readonly folder: string;
  readonly config: EncoderConfig;
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** Contents of a Hugging Face model folder. */
export interface Checkpoint extends Encoder {
  readonly modules: Modules;
  readonly tokenizer: TokenizerFiles;
}

/**
 * Reads config.json, model.safetensors, tokenizer.json and the sentence-transformers files of a folder.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`, `safetensors_invalid`
 */
export const readCheckpoint = async (folder: string): Promise<Checkpoint> => ({
  ...(await describeCheckpoint(folder)),
  weights: readWeights(folder),
});

/**
 * Reads everything that `readCheckpoint` does, except the weights.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function describeCheckpoint(folder: string): Promise<Omit<Checkpoint, "weights">> {
  const config = await readEncoderConfig(folder);
  const tokenizer = await readTokenizer(folder);
  return { folder, config, modules: await readModules(folder), tokenizer };
}
