import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pythonWith } from "#test/fixtures/python-with.ts";
import { runCommand } from "#test/fixtures/run-command.ts";
import { writeTinyCheckpoint } from "#test/fixtures/tiny-bert.ts";

const LAYERS = 12;
const WIDTH = 768;
/** Width of a head. */
const HEAD = 64;
const VOCABULARY = 250_000;

/**
 * Collects texts, trains a vocabulary, and writes an encoder of multilingual-e5-base's size with random weights. Finds what an earlier
 * call has made in the folder.
 *
 * @returns the folder of the encoder
 */
export async function makeModel(folder: string): Promise<string> {
  const model = join(folder, "model");
  if (existsSync(join(model, "model.safetensors"))) return model;
  await mkdir(model, { recursive: true });
  const python = await pythonWith(folder, ["tokenizers==0.23.3"]);
  const run = (script: string, ...args: string[]) =>
    runCommand(folder, python, "-B", join(import.meta.dirname, script), ...args);
  if (!existsSync(join(folder, "test.jsonl"))) await run("texts.py", ".");
  const tokenizer = join(model, "tokenizer.json");
  if (!existsSync(tokenizer)) await run("vocabulary.py", "vocabulary.txt", tokenizer, `${VOCABULARY}`);
  await writeWeights(model);
  return model;
}

/** Adds weights to a folder with a tokenizer. */
async function writeWeights(folder: string): Promise<void> {
  const config = {
    ...{ model_type: "xlm-roberta", pad_token_id: 1, type_vocab_size: 1, layer_norm_eps: 1e-5 },
    ...{ vocab_size: VOCABULARY, hidden_size: WIDTH, num_hidden_layers: LAYERS, num_attention_heads: WIDTH / HEAD },
    ...{ intermediate_size: 4 * WIDTH, max_position_embeddings: 514 },
  };
  const files = {
    "tokenizer.json": undefined,
    "tokenizer_config.json": JSON.stringify({ tokenizer_class: "PreTrainedTokenizerFast", model_max_length: 512 }),
  };
  await writeTinyCheckpoint(folder, { config, files });
}
