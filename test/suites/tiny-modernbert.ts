import { encoderWeights } from "../../sdk/src/build/checkpoint/encoder-weights.ts";
import { type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";
import { parsedConfig } from "./parsed-config.ts";
import { randomNumbers } from "./seeded.ts";

/** A ModernBERT with a local layer between two global ones, whose window is far shorter than its longest text. */
const tinyConfig = {
  model_type: "modernbert",
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  intermediate_size: 24,
  max_position_embeddings: 64,
  global_attn_every_n_layers: 2,
  local_attention: 4,
};

/** A ModernBERT of random weights in memory, with biases where the configuration wants them. */
export function tinyModernBert(change: Readonly<Record<string, unknown>> = {}, prefix = "") {
  const config = parsedConfig({ ...tinyConfig, ...change });
  const random = randomNumbers(1);
  const { hidden_size: hidden, intermediate_size: inner } = config;
  const weights = new Map<string, Tensor>();
  const add = (name: string, shape: number[], center: number, spread: number) => {
    const size = shape.reduce((product, n) => product * n, 1);
    const values = Float32Array.from({ length: size }, () => center + spread * (2 * random() - 1));
    weights.set(prefix + name, tensor("float32", shape, values));
  };
  const linear = (name: string, outputs: number, inputs: number, hasBias: boolean) => {
    add(`${name}.weight`, [outputs, inputs], 0, 2 / Math.sqrt(inputs));
    if (hasBias) add(`${name}.bias`, [outputs], 0, 0.5);
  };
  const layerNorm = (name: string) => {
    add(`${name}.weight`, [hidden], 1, 0.5);
    if (config.norm_bias) add(`${name}.bias`, [hidden], 0, 0.3);
  };
  add("embeddings.tok_embeddings.weight", [config.vocab_size, hidden], 0, 1);
  layerNorm("embeddings.norm");
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const name = `layers.${layer}`;
    if (layer > 0) layerNorm(`${name}.attn_norm`);
    linear(`${name}.attn.Wqkv`, 3 * hidden, hidden, config.attention_bias);
    linear(`${name}.attn.Wo`, hidden, hidden, config.attention_bias);
    layerNorm(`${name}.mlp_norm`);
    linear(`${name}.mlp.Wi`, 2 * inner, hidden, config.mlp_bias);
    linear(`${name}.mlp.Wo`, hidden, inner, config.mlp_bias);
  }
  layerNorm("final_norm");
  return { config, weights: encoderWeights({ folder: "tiny-modernbert", config, weights }) };
}
