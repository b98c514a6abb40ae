import { runSubgraph } from "../../evaluate/run-subgraph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";

/**
 * Quantizes the weights that a model keeps in float32 beside their scales, as training with quantization leaves them, and
 * computes the biases that it keeps as integers: each once, by onnxruntime, and so as it does whenever the model runs.
 */
export async function foldQuantizedConstants(graph: Graph): Promise<void> {
  for (const node of graph.sorted()) {
    if (!isWeight(node) && !isVector(node)) continue;
    const [result] = (await runSubgraph(graph, [node.output], new Map())) ?? [];
    if (result) graph.replace(node.output, graph.constant(node.output.name, result));
  }
  graph.prune();
  inferShapes(graph);
}

const readsConstants = ({ inputs }: Node) => inputs.every((input) => !input || input.constant);

const isWeight = (node: Node) => node.is("QuantizeLinear") && readsConstants(node);

/** Tables and matrices stay as small as they are; a vector is a bias, a gain or an offset. */
const isVector = (node: Node) =>
  node.is("DequantizeLinear") && readsConstants(node) && (node.inputs[0]?.shape?.length ?? 2) <= 1;
