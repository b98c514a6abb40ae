import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EncoderConfig } from "../../sdk/src/build/checkpoint/encoder-config.ts";
import { type EncoderWeights, encoderWeights } from "../../sdk/src/build/checkpoint/encoder-weights.ts";
import { tensor } from "../../sdk/src/build/graph/tensor.ts";
import { parsedConfig } from "./parsed-config.ts";
import { float32Tensor, safetensorsFile } from "./safetensors-file.ts";
import { randomNumbers } from "./seeded.ts";

/** The smallest BERT in which nothing is trivial: several heads, layers and types. */
const tinyConfig = {
  model_type: "bert",
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 64,
  max_position_embeddings: 16,
  type_vocab_size: 2,
  layer_norm_eps: 1e-12,
};
type TinyConfig = typeof tinyConfig;

/** Values of a checkpoint's tensors by transformers' names. */
export type TinyValues = Map<string, { shape: number[]; values: Float32Array }>;

/** Random values for every tensor that transformers' BertModel has (without its pooler). */
function tinyValues(config: TinyConfig, seed: number): TinyValues {
  const random = randomNumbers(seed);
  const { hidden_size: hidden, intermediate_size: inner } = config;
  const all: TinyValues = new Map();
  const add = (name: string, shape: number[], center: number, spread: number) => {
    const size = shape.reduce((product, n) => product * n, 1);
    all.set(name, { shape, values: Float32Array.from({ length: size }, () => center + spread * (2 * random() - 1)) });
  };
  const linear = (name: string, outputs: number, inputs: number) => {
    add(`${name}.weight`, [outputs, inputs], 0, 2 / Math.sqrt(inputs));
    add(`${name}.bias`, [outputs], 0, 0.5);
  };
  const layerNorm = (name: string) => {
    add(`${name}.weight`, [hidden], 1, 0.5);
    add(`${name}.bias`, [hidden], 0, 0.3);
  };
  add("embeddings.word_embeddings.weight", [config.vocab_size, hidden], 0, 1);
  add("embeddings.position_embeddings.weight", [config.max_position_embeddings, hidden], 0, 0.5);
  add("embeddings.token_type_embeddings.weight", [config.type_vocab_size, hidden], 0, 0.5);
  layerNorm("embeddings.LayerNorm");
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const name = `encoder.layer.${layer}`;
    for (const part of ["query", "key", "value"]) linear(`${name}.attention.self.${part}`, hidden, hidden);
    linear(`${name}.attention.output.dense`, hidden, hidden);
    layerNorm(`${name}.attention.output.LayerNorm`);
    linear(`${name}.intermediate.dense`, inner, hidden);
    linear(`${name}.output.dense`, hidden, inner);
    layerNorm(`${name}.output.LayerNorm`);
  }
  return all;
}

export interface TinyOptions {
  seed?: number;
  config?: Partial<TinyConfig>;
  /** Changes the random values before they are used. */
  edit?: (values: TinyValues) => void;
}

/** A BERT of random weights in memory. */
export function tinyBert({ seed = 1, config = {}, edit }: TinyOptions = {}): {
  config: EncoderConfig;
  weights: EncoderWeights;
} {
  const whole = { ...tinyConfig, ...config };
  const values = tinyValues(whole, seed);
  edit?.(values);
  const parsed = parsedConfig(whole);
  const weights = encoderWeights({
    folder: "tiny-bert",
    config: parsed,
    weights: new Map([...values].map(([name, { shape, values }]) => [name, tensor("float32", shape, values)])),
  });
  return { config: parsed, weights };
}

export interface TinyFolderOptions extends TinyOptions {
  /** Put before every tensor's name. */
  prefix?: string;
  /** Further files, or other contents of the usual ones; undefined leaves a file out. */
  files?: Readonly<Record<string, string | Uint8Array | undefined>>;
}

/** Writes a BERT of random weights as a model folder whose tokenizer.json is empty. */
export async function writeTinyCheckpoint(folder: string, options: TinyFolderOptions = {}): Promise<void> {
  const { seed = 1, config = {}, edit, prefix = "", files = {} } = options;
  const whole = { ...tinyConfig, ...config };
  const values = tinyValues(whole, seed);
  edit?.(values);
  const tensors = [...values].map(([name, { shape, values }]) => [prefix + name, float32Tensor(shape, values)]);
  const contents = {
    "config.json": JSON.stringify(whole),
    "tokenizer.json": "{}",
    "model.safetensors": safetensorsFile(Object.fromEntries(tensors)),
    ...files,
  };
  for (const [name, content] of Object.entries(contents)) {
    if (content === undefined) continue;
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

const defaultModel = join(import.meta.dirname, "../../models/default");

/** Writes a model folder that can be prepared: one small layer of random weights under the default model's tokenizer. */
export async function writePreparableCheckpoint(folder: string, options: TinyFolderOptions = {}): Promise<void> {
  const small = {
    vocab_size: 30_522,
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    intermediate_size: 32,
    max_position_embeddings: 64,
  };
  await writeTinyCheckpoint(folder, {
    ...options,
    config: { ...small, ...options.config },
    files: { "tokenizer.json": undefined, ...options.files },
  });
  for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
    if (!(options.files && file in options.files)) await copyFile(join(defaultModel, file), join(folder, file));
  }
}
