import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node } from "../graph/node.ts";

/** Operators that stand for whole sub-layers, by the domains that have them. */
const fusedOperators: Readonly<Record<string, readonly string[]>> = {
  EmbedLayerNormalization: [MICROSOFT],
  Attention: [MICROSOFT],
  MultiHeadAttention: [MICROSOFT],
  RotaryEmbedding: [MICROSOFT],
  SkipLayerNormalization: [MICROSOFT],
  LayerNormalization: [""],
  BiasGelu: [MICROSOFT],
  Gelu: [MICROSOFT, ""],
  FastGelu: [MICROSOFT],
  QuickGelu: [MICROSOFT],
};

/** How many fused operators of each kind a graph has, those with none left out. */
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
