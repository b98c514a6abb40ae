import { runSubgraph } from "../../evaluate/run-subgraph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node } from "../../graph/node.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";

/**
 * Computes two kinds of constants that the model would otherwise compute on every run. Float32 weights that a
 * QuantizeLinear reads (in models from quantization-aware training) are quantized. Biases that are stored as integers
 * are dequantized. onnxruntime does the computation, so the results are the same as in the model.
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

/** Whether a node dequantizes a vector: a bias, a gain or an offset. Tables and matrices stay in 8 bits to save memory. */
const isVector = (node: Node) =>
  node.is("DequantizeLinear") && readsConstants(node) && (node.inputs[0]?.shape?.length ?? 2) <= 1;
