import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { transposedMatrix } from "../graph/transposed-matrix.ts";

/**
 * Gives tied weights a matrix of their own. Heads of masked language models multiply by the transposed embedding table, which is
 * stored once in float32. Quantized, a table and a weight matrix differ.
 *
 * @returns a copy of the graph. The matrices are computed when they are read
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
