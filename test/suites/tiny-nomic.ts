import { type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";
import { originalNomic } from "./original-nomic.ts";
import { parsedConfig } from "./parsed-config.ts";
import { randomNumbers } from "./seeded.ts";

const [HIDDEN, LAYERS, HEADS, INTERMEDIATE, VOCABULARY, POSITIONS] = [32, 2, 4, 48, 50, 32];

/** A NomicBERT of random weights in memory, in the form of transformers 5 and in that of nomic-ai's own code. */
export function tinyNomic() {
  const random = randomNumbers(1);
  const weights = new Map<string, Tensor>();
  const add = (name: string, shape: number[], center: number, spread: number) => {
    const size = shape.reduce((product, n) => product * n, 1);
    const values = Float32Array.from({ length: size }, () => center + spread * (2 * random() - 1));
    weights.set(name, tensor("float32", shape, values));
  };
  const layerNorm = (name: string) => {
    add(`${name}.weight`, [HIDDEN], 1, 0.5);
    add(`${name}.bias`, [HIDDEN], 0, 0.3);
  };
  add("embeddings.word_embeddings.weight", [VOCABULARY, HIDDEN], 0, 1);
  add("embeddings.token_type_embeddings.weight", [2, HIDDEN], 0, 0.5);
  layerNorm("embeddings.LayerNorm");
  for (let layer = 0; layer < LAYERS; layer++) {
    const name = `layers.${layer}`;
    const linear = (part: string, outputs: number, inputs: number) =>
      add(`${name}.${part}.weight`, [outputs, inputs], 0, 2 / Math.sqrt(inputs));
    for (const part of ["q", "k", "v", "o"]) linear(`self_attn.${part}_proj`, HIDDEN, HIDDEN);
    layerNorm(`${name}.post_attention_layernorm`);
    for (const part of ["gate", "up"]) linear(`mlp.${part}_proj`, INTERMEDIATE, HIDDEN);
    linear("mlp.down_proj", HIDDEN, INTERMEDIATE);
    layerNorm(`${name}.post_mlp_layernorm`);
  }
  const keys = {
    model_type: "nomic_bert",
    vocab_size: VOCABULARY,
    hidden_size: HIDDEN,
    num_hidden_layers: LAYERS,
    num_attention_heads: HEADS,
    intermediate_size: INTERMEDIATE,
    max_position_embeddings: POSITIONS,
  };
  return {
    current: { folder: "tiny-nomic", config: parsedConfig(keys), weights },
    original: {
      folder: "tiny-nomic-original",
      config: parsedConfig(originalNomicKeys(keys)),
      weights: originalNomic(weights),
    },
  };
}

interface Sizes {
  readonly vocab_size: number;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly intermediate_size: number;
  readonly max_position_embeddings: number;
}

/** config.json with nomic-ai's own keys, of an encoder like nomic-embed-text but for its sizes. */
export const originalNomicKeys = (sizes: Sizes) => ({
  model_type: "nomic_bert",
  vocab_size: sizes.vocab_size,
  n_embd: sizes.hidden_size,
  n_layer: sizes.num_hidden_layers,
  n_head: sizes.num_attention_heads,
  n_inner: sizes.intermediate_size,
  n_positions: sizes.max_position_embeddings,
  layer_norm_epsilon: 1e-12,
  activation_function: "swiglu",
  rotary_emb_base: 1000,
  rotary_emb_fraction: 1,
  qkv_proj_bias: false,
  mlp_fc1_bias: false,
  mlp_fc2_bias: false,
});
