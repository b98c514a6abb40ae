import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { type Casts, castsFor } from "./casts.ts";
import { halfOperator } from "./half-operators.ts";
import { isHalf, isSingle, nodesInHalf } from "./nodes-in-half.ts";
import { isSize } from "./weight-free-values.ts";

/**
 * Half precision for GPUs: every node that is fast and safe in it is computed in float16, with its weights; all others stay
 * in float32 (`nodesInHalf`), with casts where they meet. Inputs and outputs stay as declared, and what is float16 already
 * stays as it is. In a completely fused graph all but the output's cast is half precision.
 *
 * Sub-graphs (If, Loop, Scan) stay in float32. Activations beyond 65504 become infinite, which weights do not tell:
 * `beyondHalf` finds them on texts.
 *
 * @param exempt names of nodes that are to stay in float32
 */
export function toFp16(fused: Graph, exempt: ReadonlySet<string> = new Set()): Graph {
  const graph = copyGraph(fused);
  inferShapes(graph);
  dropIdleCasts(graph);
  const halves = nodesInHalf(graph, exempt);
  const borders = castsFor(graph, halves);
  const single = graph.outputs.filter(({ value }) => isSingle(value));
  for (const node of graph.sorted()) {
    if (node.is("Cast")) joinCast(graph, node, halves, borders);
    else if (!isSize(node)) readAs(graph, node, halves.has(node), borders);
  }
  for (const output of single) output.value = borders.single(output.value);
  graph.prune();
  inferShapes(graph);
  // Inference may have found two of their sizes to be one; that is no news to put into a file.
  for (const [i, { shape }] of fused.inputs.entries()) (graph.inputs[i] as Value).shape = shape;
  return graph;
}

/** Casts of float32 to float32, which exporters leave behind: they are none yet, and must not become some. */
function dropIdleCasts(graph: Graph): void {
  for (const node of graph.nodes) {
    const [value] = node.inputs;
    if (node.is("Cast") && value && isSingle(value) && isSingle(node.output)) graph.replace(node.output, value);
  }
  graph.prune();
}

function readAs(graph: Graph, node: Node, inHalf: boolean, borders: Casts): void {
  const bias = halfOperator(node)?.bias;
  const inputs = node.inputs.map((input, i) => {
    if (!input || !inHalf) return input && borders.single(input);
    return i === bias ? borders.bias(input) : borders.half(input);
  });
  graph.setInputs(node, inputs);
}

/** Casts of the model between the two precisions become casts of the borders: none is done twice, or there and back. */
function joinCast(graph: Graph, node: Node, halves: ReadonlySet<Node>, borders: Casts): void {
  const [value] = node.inputs;
  if (!value) return;
  const isInHalf = value.dtype === "float16" || isHalf(value, halves);
  if (isSingle(node.output) && isInHalf) borders.known(node.output, value);
  else if (node.output.dtype === "float16" && isSingle(value)) {
    if (!isInHalf) borders.known(value, node.output);
    const half = borders.half(value);
    if (half !== node.output) graph.replace(node.output, half);
  }
}
