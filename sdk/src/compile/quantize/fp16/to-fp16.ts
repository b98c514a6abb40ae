import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { type Casts, castsFor } from "./casts.ts";
import { halfOperator } from "./half-operators.ts";
import { isFloat32, isHalf, nodesInHalf } from "./nodes-in-half.ts";
import { isSize } from "./weight-free-values.ts";

/**
 * Converts a graph to half precision for GPUs. Nodes that are fast and safe in float16 (`nodesInHalf`), and their weights,
 * become float16. All others stay float32, with casts where the two meet. Inputs and outputs keep their types. In a
 * completely fused graph everything but the output's cast is half precision.
 *
 * Sub-graphs (If, Loop, Scan) stay in float32. Activations beyond 65504 become infinite; `overflowingNodes` finds those
 * nodes on texts.
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
  // Shape inference may have unified two sizes of the inputs. Their declarations must not change for that.
  for (const [i, { shape }] of fused.inputs.entries()) (graph.inputs[i] as Value).shape = shape;
  return graph;
}

/** Removes casts from float32 to float32, which exporters leave behind. They must not become casts of half precision. */
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

/** Merges a cast of the model with those that are added, so that nothing is cast twice or back and forth. */
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
