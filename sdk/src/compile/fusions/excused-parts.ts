import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { sumTerms } from "../rewrite/values.ts";
import { decomposedParts } from "./unfused-parts.ts";

/** Sub-layers that stay as they are for the same reason: onnxruntime has no operator for them. */
export interface ExcusedParts {
  readonly pattern: string;
  readonly why: string;
  /** Names of nodes in the original file, one for each sub-layer. */
  readonly nodes: readonly string[];
}

/** Lists the sub-layers that no rule can fuse, because onnxruntime has no operator for them. */
export function excusedParts(graph: Graph): ExcusedParts[] {
  const found = new Map<string, { pattern: string; why: string; nodes: string[] }>();
  const excuse = (pattern: string, why: string, { origin }: Node) => {
    const known = found.get(`${pattern}: ${why}`);
    if (known) known.nodes.push(origin);
    else found.set(`${pattern}: ${why}`, { pattern, why, nodes: [origin] });
  };
  for (const { node, leftover, excuse: why } of decomposedParts(graph)) {
    if (why !== undefined) excuse(leftover.rules[0], why, node);
  }
  for (const node of graph.nodes) if (readsQuantizedTables(node)) excuse("EmbedLayerNormalization", QUANTIZED, node);
  return [...found.values()];
}

const QUANTIZED =
  "its tables or sums are quantized; EmbedLayerNormalization computes in float, from tables of four times the size";

/** Whether a node normalizes a sum of embeddings, and embeddings are quantized. */
function readsQuantizedTables(node: Node): boolean {
  const isSkip = node.is("SkipLayerNormalization", MICROSOFT);
  const inputs = isSkip ? node.inputs.slice(0, 2) : node.is("LayerNormalization") ? node.inputs.slice(0, 1) : [];
  const terms = inputs.flatMap((input) => (input ? sumTerms(input).flatMap(dequantizedTerms) : []));
  return terms.length > 1 && terms.some(({ isQuantized, isLookup }) => isQuantized && isLookup);
}

interface Term {
  readonly isLookup: boolean;
  readonly isQuantized: boolean;
}

/** Finds the terms of a sum whose terms and partial sums may be quantized and dequantized. */
function dequantizedTerms(value: Value): Term[] {
  const node = value.producer;
  if (node?.is("GatherBlockQuantized", MICROSOFT)) return [{ isLookup: true, isQuantized: true }];
  if (!node?.is("DequantizeLinear")) return [{ isLookup: isLookup(node), isQuantized: false }];
  const inner = node.inputs[0]?.producer;
  const original = inner?.is("QuantizeLinear") ? inner.inputs[0] : undefined;
  const terms = original
    ? sumTerms(original).flatMap(dequantizedTerms)
    : [{ isLookup: isLookup(inner), isQuantized: true }];
  return terms.map(({ isLookup }) => ({ isLookup, isQuantized: true }));
}

const isLookup = (node: Node | undefined): boolean =>
  node?.is("Gather") === true && node.inputs[0]?.constant?.shape.length === 2;
