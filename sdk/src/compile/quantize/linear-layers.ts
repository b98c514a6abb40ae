import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";

/**
 * Layers with fewer outputs than this are not quantized. They take little time, and often compute a task's final
 * result.
 */
const MIN_OUTPUTS = 16;

/** A linear layer: x · weight + bias, with a constant weight matrix. */
export interface LinearLayer {
  readonly name: string;
  readonly x: Value;
  /** Constant float32 [in, out]. */
  readonly weight: Value & { readonly constant: Tensor };
  /** [out] */
  readonly bias: Value | undefined;
}

/** Returns the linear layer of a MatMul, or the projections of an Attention as one layer; undefined for other nodes. */
export function linearLayerOf(node: Node): LinearLayer | undefined {
  const isAttention = node.is("Attention", MICROSOFT);
  const [x, weight, bias, , past] = node.inputs;
  // Integer operators need queries, keys and values of the same width.
  const isSupported = isAttention && !past && !node.ints("qkv_hidden_sizes");
  if (!x || !isMatrix(weight) || !(node.is("MatMul") || isSupported)) return undefined;
  return { name: node.name, x, weight, bias: isAttention ? bias : undefined };
}

function isMatrix(value: Value | undefined): value is LinearLayer["weight"] {
  const { dtype, shape = [] } = value?.constant ?? {};
  return dtype === "float32" && shape.length === 2 && (shape[1] ?? 0) >= MIN_OUTPUTS;
}

/** Returns all linear layers of a graph in topological order. */
export const linearLayersOf = (graph: Graph): LinearLayer[] =>
  graph.sorted().flatMap((node) => linearLayerOf(node) ?? []);

/** Returns the linear layers of feed-forward blocks: from hidden to intermediate width, and back. */
export function feedForwardLayers(graph: Graph): LinearLayer[] {
  const layers = linearLayersOf(graph).filter(({ bias }) => bias === undefined);
  const shapes = new Set(layers.map(({ weight }) => weight.constant.shape.join()));
  return layers.filter(({ weight }) => {
    const [inputs, outputs] = weight.constant.shape;
    return inputs !== outputs && shapes.has(`${outputs},${inputs}`);
  });
}
