import * as v from "valibot";
import { EncoderConfig } from "../../sdk/src/build/checkpoint/encoder-config.ts";
import type { Graph, Node } from "../../sdk/src/build/graph/graph.ts";
import { numbersOf, type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";

/** What an export was made of, as its case.json has it. */
export interface ExportedConfig {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly act: string;
  readonly vocab: number;
  readonly max_pos: number;
  readonly embedding_size?: number;
  readonly layer_norm_eps?: number;
}

/**
 * The checkpoint that PyTorch exported a graph from: parameters keep their names, but for the weights of linear maps, which
 * exporters transpose and rename; those go by the bias that is added after them.
 */
export function checkpointOfExport(graph: Graph, family: string, exported: ExportedConfig) {
  const weights = new Map<string, Tensor>();
  for (const { name, constant } of graph.constants()) {
    if (constant && /\.(weight|bias)$/.test(name)) weights.set(withoutModule(name), constant);
  }
  for (const node of graph.nodes) {
    const linear = linearOf(node);
    if (linear) weights.set(withoutModule(linear.bias).replace(/bias$/, "weight"), transposed(linear.weight));
  }
  const types = weights.get("embeddings.token_type_embeddings.weight")?.shape[0];
  const config = v.parse(EncoderConfig, configOf(family, exported, types));
  return { folder: "export", config, weights };
}

const withoutModule = (name: string) => name.replace(/^m\./, "");

function configOf(family: string, exported: ExportedConfig, types: number | undefined): Record<string, unknown> {
  const common = { model_type: family, vocab_size: exported.vocab, max_position_embeddings: exported.max_pos };
  if (family === "distilbert") {
    const { hidden: dim, layers: n_layers, heads: n_heads, intermediate: hidden_dim, act: activation } = exported;
    return { ...common, dim, n_layers, n_heads, hidden_dim, activation };
  }
  return {
    ...common,
    hidden_size: exported.hidden,
    num_hidden_layers: exported.layers,
    num_attention_heads: exported.heads,
    intermediate_size: exported.intermediate,
    hidden_act: exported.act,
    ...(exported.layer_norm_eps !== undefined && { layer_norm_eps: exported.layer_norm_eps }),
    ...(exported.embedding_size !== undefined && { embedding_size: exported.embedding_size }),
    ...(types !== undefined && { type_vocab_size: types }),
  };
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
