import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node } from "../graph/node.ts";

/** Fused operators, and for each the ONNX domains that define it. */
const fusedOperators: Readonly<Record<string, readonly string[]>> = {
  EmbedLayerNormalization: [MICROSOFT],
  Attention: [MICROSOFT],
  MultiHeadAttention: [MICROSOFT],
  RotaryEmbedding: [MICROSOFT],
  SkipLayerNormalization: [MICROSOFT],
  LayerNormalization: [""],
  SkipSimplifiedLayerNormalization: [MICROSOFT],
  SimplifiedLayerNormalization: [""],
  BiasGelu: [MICROSOFT],
  Gelu: [MICROSOFT, ""],
  FastGelu: [MICROSOFT],
  QuickGelu: [MICROSOFT],
};

/** Counts the fused operators in a graph. Leaves out those with a count of 0. */
export function countFused(graph: Graph): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { opType, domain } of graph.nodes) {
    if (fusedOperators[opType]?.includes(domain)) counts[opType] = (counts[opType] ?? 0) + 1;
  }
  return Object.fromEntries(
    Object.keys(fusedOperators).flatMap((name) => (counts[name] ? [[name, counts[name]]] : [])),
  );
}

export const isFusedAttention = (node: Node): boolean =>
  node.domain === MICROSOFT && ["Attention", "MultiHeadAttention", "QAttention"].includes(node.opType);
