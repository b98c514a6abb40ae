import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeTinyCheckpoint } from "#test/fixtures/tiny-bert.ts";

/** Size of a BERT: number of layers, and width of its hidden states. */
export interface BertSize {
  readonly layers: number;
  readonly width: number;
}

const TOKENIZER = "models/default";
const TOKENIZER_FILES = ["tokenizer.json", "tokenizer_config.json", "modules.json", "1_Pooling/config.json"];
const VOCABULARY = 30_522;
/** Width of a head of BERT. */
const HEAD = 64;

/**
 * Writes a BERT with random weights, and the tokenizer and pooling of the default model. Time does not depend on the weights.
 *
 * @param name of the benchmark: artifacts are kept by the name of the folder, and one benchmark removes those of another version
 * @returns its folder
 */
export async function writeRandomBert(parent: string, { layers, width }: BertSize, name: string): Promise<string> {
  const folder = join(parent, `${name}-${layers}x${width}`);
  const files: Record<string, string> = {};
  for (const name of TOKENIZER_FILES) files[name] = await readFile(join(TOKENIZER, name), "utf8");
  files["1_Pooling/config.json"] = JSON.stringify({
    ...JSON.parse(files["1_Pooling/config.json"] as string),
    word_embedding_dimension: width,
  });
  const config = {
    ...{ vocab_size: VOCABULARY, hidden_size: width, num_hidden_layers: layers, num_attention_heads: width / HEAD },
    ...{ intermediate_size: 4 * width, max_position_embeddings: 512 },
  };
  await writeTinyCheckpoint(folder, { config, files });
  return folder;
}
