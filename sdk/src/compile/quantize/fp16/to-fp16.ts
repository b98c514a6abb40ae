import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { type Casts, castsFor } from "./casts.ts";
import { halfOperator } from "./half-operators.ts";
import { isFloat32, isHalf, nodesInHalf } from "./nodes-in-half.ts";
import { isSize } from "./weight-free-values.ts";

/**
 * Converts a graph to half precision for GPUs. Nodes that are fast and safe in float16 (`nodesInHalf`), and their
 * weights, become float16. All other nodes stay float32. Casts convert values between the two types. Inputs and outputs
 * keep their types. A completely fused graph needs only one cast, at its output.
 *
 * Sub-graphs (If, Loop, Scan) stay in float32. Activations above 65504 become infinite: use `overflowObserver` to find the
 * nodes where this happens, and exempt them.
 *
 * @param exempt names of nodes to keep in float32
 */
export function toFp16(fused: Graph, exempt: ReadonlySet<string> = new Set()): Graph {
  const graph = copyGraph(fused);
  inferShapes(graph);
  removeIdleCasts(graph);
  const halves = nodesInHalf(graph, exempt);
  const casts = castsFor(graph, halves);
  const single = graph.outputs.filter(({ value }) => isFloat32(value));
  for (const node of graph.sorted()) {
    if (node.is("Cast")) mergeCast(graph, node, halves, casts);
    else if (!isSize(node)) castInputs(graph, node, halves.has(node), casts);
  }
  for (const output of single) output.value = casts.toSingle(output.value);
  graph.prune();
  inferShapes(graph);
  // Restores the declared input shapes. Shape inference changes them when it finds that two input sizes are equal.
  for (const [i, { shape }] of fused.inputs.entries()) (graph.inputs[i] as Value).shape = shape;
  return graph;
}

/**
 * Removes casts from float32 to float32, which some exports contain. Otherwise they would become casts from float16.
 */
function removeIdleCasts(graph: Graph): void {
  for (const node of graph.nodes) {
    const [value] = node.inputs;
    if (node.is("Cast") && value && isFloat32(value) && isFloat32(node.output)) graph.replace(node.output, value);
  }
  graph.prune();
}

function castInputs(graph: Graph, node: Node, inHalf: boolean, casts: Casts): void {
  const bias = halfOperator(node)?.bias;
  const inputs = node.inputs.map((input, i) => {
    if (!input || !inHalf) return input && casts.toSingle(input);
    return i === bias ? casts.biasToHalf(input) : casts.toHalf(input);
  });
  graph.setInputs(node, inputs);
}

/** Merges the model's own casts with the added ones, so that nothing is cast twice or back and forth. */
function mergeCast(graph: Graph, node: Node, halves: ReadonlySet<Node>, casts: Casts): void {
  const [value] = node.inputs;
  if (!value) return;
  const isInHalf = value.dtype === "float16" || isHalf(value, halves);
  if (isFloat32(node.output) && isInHalf) casts.register(node.output, value);
  else if (node.output.dtype === "float16" && isFloat32(value)) {
    if (!isInHalf) casts.register(value, node.output);
    const half = casts.toHalf(value);
    if (half !== node.output) graph.replace(node.output, half);
  }
}
