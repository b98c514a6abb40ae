import { numbersOf, type Tensor, tensor } from "#sdk/compile/graph/tensor.ts";

/** nomic-ai's code pads the intermediate size of feed-forward weights to a multiple of this number. */
const MULTIPLE = 256;

const renamed: readonly (readonly [RegExp, string])[] = [
  [/^embeddings\.LayerNorm/, "emb_ln"],
  [/^layers/, "encoder.layers"],
  [/self_attn\.o_proj/, "attn.out_proj"],
  [/up_proj/, "fc11"],
  [/gate_proj/, "fc12"],
  [/down_proj/, "fc2"],
  [/post_attention_layernorm/, "norm1"],
  [/post_mlp_layernorm/, "norm2"],
];

/**
 * Converts a NomicBERT checkpoint from transformers' format to nomic-ai's. Renames the tensors, stacks the weights of
 * queries, keys and values, and pads the feed-forward weights with zeros.
 */
export function originalNomic(weights: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  const original = new Map<string, Tensor>();
  for (const [name, value] of weights) {
    if (/self_attn\.[kv]_proj/.test(name)) continue;
    if (name.includes("self_attn.q_proj")) {
      const parts = ["q_proj", "k_proj", "v_proj"].map((part) => weights.get(name.replace("q_proj", part)) as Tensor);
      original.set(`encoder.${name.replace("self_attn.q_proj", "attn.Wqkv")}`, stacked(parts));
      continue;
    }
    const to = renamed.reduce((known, [from, by]) => known.replace(from, by), name);
    const [rows = 0, columns = 0] = value.shape;
    if (/fc1[12]/.test(to)) original.set(to, padded(value, roundedUp(rows), columns));
    else original.set(to, to.includes("fc2") ? padded(value, rows, roundedUp(columns)) : value);
  }
  return original;
}

const roundedUp = (size: number) => Math.ceil(size / MULTIPLE) * MULTIPLE;

function stacked(parts: readonly Tensor[]): Tensor {
  const rows = parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  return tensor("float32", [rows, parts[0]?.shape[1] ?? 0], Float32Array.from(parts.flatMap(numbersOf)));
}

function padded(value: Tensor, rows: number, columns: number): Tensor {
  const [, width = 0] = value.shape;
  const wide = new Float32Array(rows * columns);
  numbersOf(value).forEach((number, i) => {
    wide[Math.floor(i / width) * columns + (i % width)] = number;
  });
  return tensor("float32", [rows, columns], wide);
}
