import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import type { Node } from "../../sdk/src/build/graph/node.ts";
import { numbersOf, type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";
import { parsedConfig } from "./parsed-config.ts";

/** What an export was made of, as its case.json has it. */
export interface ExportedConfig {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly act: string | null;
  readonly vocab: number;
  readonly max_pos: number;
  readonly embedding_size?: number | null;
  readonly layer_norm_eps?: number;
}

/**
 * The checkpoint that PyTorch exported a graph from: parameters keep their names, but for the weights of linear maps, which
 * exporters transpose and rename; those go by the bias that is added after them, or by their order where there is none.
 */
export function checkpointOfExport(graph: Graph, family: string, exported: ExportedConfig) {
  const weights = new Map<string, Tensor>();
  for (const { name, constant } of graph.constants()) {
    if (constant && /\.(weight|bias)$/.test(name)) weights.set(withoutModule(name), constant);
  }
  const unnamed = [...(layerMaps[family] ?? [])];
  const names = Array.from({ length: exported.layers }, (_, i) => unnamed.map((name) => `layers.${i}.${name}`)).flat();
  for (const node of graph.nodes) {
    const linear = linearOf(node);
    if (linear) weights.set(withoutModule(linear.bias).replace(/bias$/, "weight"), transposed(linear.weight));
    const weight = unnamed.length > 0 ? matrixOf(node) : undefined;
    if (weight) weights.set(`${names.shift()}.weight`, transposed(weight));
  }
  if (names.length > 0) throw new Error(`the export lacks ${names.join(", ")}`);
  const types = weights.get("embeddings.token_type_embeddings.weight")?.shape[0];
  const config = parsedConfig(configOf(family, exported, types));
  return { folder: "export", config, weights };
}

const withoutModule = (name: string) => name.replace(/^m\./, "");

/** Linear maps without bias, in the order in which a layer uses them. */
const layerMaps: Readonly<Record<string, readonly string[]>> = {
  modernbert: ["attn.Wqkv", "attn.Wo", "mlp.Wi", "mlp.Wo"],
  "nomic-bert": [
    ...["q_proj", "k_proj", "v_proj", "o_proj"].map((name) => `self_attn.${name}`),
    ...["gate_proj", "up_proj", "down_proj"].map((name) => `mlp.${name}`),
  ],
};

function configOf(family: string, exported: ExportedConfig, types: number | undefined): Record<string, unknown> {
  const common = { model_type: family, vocab_size: exported.vocab, max_position_embeddings: exported.max_pos };
  const { hidden, layers, heads, intermediate, act, layer_norm_eps } = exported;
  if (family === "distilbert") {
    return { ...common, dim: hidden, n_layers: layers, n_heads: heads, hidden_dim: intermediate, activation: act };
  }
  const sizes = {
    ...common,
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    intermediate_size: intermediate,
  };
  // All exports were made with this window, as the comparison in their graphs shows.
  if (family === "modernbert")
    return { ...sizes, local_attention: 8, ...(layer_norm_eps && { norm_eps: layer_norm_eps }) };
  return {
    ...sizes,
    model_type: family.replace("nomic-bert", "nomic_bert"),
    hidden_act: act,
    ...(layer_norm_eps !== undefined && { layer_norm_eps }),
    ...(exported.embedding_size && { embedding_size: exported.embedding_size }),
    ...(types !== undefined && { type_vocab_size: types }),
  };
}

/** The matrix of a product with a constant. */
function matrixOf(node: Node): Tensor | undefined {
  const matrix = node.is("MatMul") ? node.inputs[1]?.constant : undefined;
  return matrix?.shape.length === 2 ? matrix : undefined;
}

/** Add(MatMul(x, weight), bias) with a bias that has kept its name. */
function linearOf(node: Node): { weight: Tensor; bias: string } | undefined {
  const bias = node.inputs.find((input) => input?.constant && input.name.endsWith(".bias"));
  const product = node.inputs.find((input) => input?.producer?.is("MatMul"))?.producer;
  const weight = product?.inputs[1]?.constant;
  return node.is("Add") && bias && weight ? { weight, bias: bias.name } : undefined;
}

function transposed(weight: Tensor): Tensor {
  const [rows = 0, columns = 0] = weight.shape;
  const values = numbersOf(weight);
  const turned = Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)] as number);
  return tensor("float32", [columns, rows], turned);
}
