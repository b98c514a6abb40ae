import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
import { transposedMatrix } from "../graph/tensor-math.ts";

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

/**
 * Gives tied weights a matrix of their own. The head of a masked language model multiplies by the transposed embedding table, so a
 * float32 graph stores both as one constant. Quantized, the table and the weight matrix have different formats.
 *
 * @returns a copy of the graph. The new matrices are computed when they are read
 */
export function untiedWeights(fused: Graph): Graph {
  const graph = copyGraph(fused);
  for (const node of graph.nodes) {
    const table = node.is("Transpose") ? node.inputs[0]?.constant : undefined;
    const isWeight = [...(node.outputs[0]?.users ?? [])].some(
      (user) => user.is("MatMul") && user.inputs[1] === node.output,
    );
    if (table?.shape.length !== 2 || node.ints("perm")?.[0] === 0 || !isWeight) continue;
    graph.replace(node.output, graph.constant(node.output.name, transposedMatrix(table)));
  }
  graph.prune();
  return graph;
}
