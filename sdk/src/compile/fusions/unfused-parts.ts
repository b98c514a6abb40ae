import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import type { Trace, UnfusedReason } from "../rewrite/trace.ts";
import { sumTerms } from "../rewrite/values.ts";
import { isFusedAttention } from "./fused-operators.ts";
import { whyNoOperator } from "./without-operator.ts";

/**
 * Lists the reasons why a graph is not completely fused: one for each attention, layer normalization and activation that
 * still consists of several nodes. Leaves out parts that onnxruntime has no operator for; `excusedParts` lists them. The
 * list is empty if the graph is completely fused. A graph without any attention gets a reason too, because it is not a
 * known encoder.
 */
export function unfusedParts(graph: Graph, trace: Trace): UnfusedReason[] {
  const parts = decomposedParts(graph);
  const reasons = parts.flatMap(({ node, leftover, excuse }) =>
    excuse === undefined ? [trace.reasonFor(leftover.rules, leftover.nodes) ?? generic(leftover, node)] : [],
  );
  if (parts.every(({ leftover }) => leftover.rules[0] !== "Attention") && ![...graph.nodes].some(isFusedAttention)) {
    reasons.push({ pattern: "Attention", node: "", why: "the graph has no attention that a fusion recognizes" });
  }
  return [...reasons, ...trace.notes];
}

/** A sub-layer that consists of several nodes. */
interface DecomposedPart {
  readonly node: Node;
  readonly leftover: Leftover;
  /** The reason why onnxruntime has no operator for the sub-layer; undefined if it has one. */
  readonly excuse: string | undefined;
}

const decomposedParts = (graph: Graph): DecomposedPart[] =>
  [...graph.nodes].flatMap((node) => {
    const leftover = decomposed(node);
    return leftover ? [{ node, leftover, excuse: whyNoOperator(graph, leftover.rules[0], node) }] : [];
  });

interface Leftover {
  /** Rules that should have fused the sub-layer. */
  readonly rules: readonly [string, ...string[]];
  /** Nodes at which these rules may have failed. */
  readonly nodes: readonly Node[];
  /** A node that no fused operator can contain. */
  readonly obstacle?: Node | undefined;
}

const generic = ({ rules: [pattern], obstacle }: Leftover, node: Node): UnfusedReason =>
  obstacle
    ? { pattern, node: obstacle.origin, why: `no fused operator contains ${obstacle.opType}` }
    : {
        pattern,
        node: node.origin,
        why: `${node.opType} is part of this pattern, but the nodes around it do not match`,
      };

/** Recognizes an unfused sub-layer by a typical node, such as Erf for GELU. */
function decomposed(node: Node): Leftover | undefined {
  if (node.domain !== "") return undefined;
  switch (node.opType) {
    // A softmax may also be written as several nodes, with an Exp among them.
    case "Exp":
    case "Softmax": {
      const after = readers(node, (reader) => !ends.test(reader.opType));
      const products = after.filter(isComputedProduct);
      const obstacle = after.find((reader) => !ends.test(reader.opType) && !harmless(reader));
      return products.length > 0 ? { rules: ["Attention"], nodes: products, obstacle } : undefined;
    }
    case "Attention":
      return { rules: ["Attention"], nodes: [node] };
    case "Sqrt": {
      const rule = normalizationOf(node.inputs[0]);
      return rule ? throughArithmetic(rule, node) : undefined;
    }
    case "Erf":
      return throughArithmetic("Gelu", node);
    case "Tanh":
      return [...node.output.users].some((user) => user.is("Add") && user.inputs.some((input) => isOne(input)))
        ? throughArithmetic("FastGelu", node)
        : undefined;
    default:
      return undefined;
  }
}

/** Describes a sub-layer by its typical node, and by the nodes that read this node directly or through arithmetic. */
function throughArithmetic(rule: string, node: Node): Leftover {
  const nodes = readers(node, arithmetic);
  return { rules: [rule], nodes, obstacle: nodes.find((reader) => !arithmetic(reader) && !ends.test(reader.opType)) };
}

/** Operators that end the search for the readers of attention probabilities. */
const ends = /MatMul|Einsum|Gemm|Conv|Attention|Normalization/;
/** Whether a node may be between attention probabilities and their MatMul with the values. */
const harmless = (node: Node) =>
  isView(node) || /^(Where|IsNaN|Cast|Transpose|Dropout|Div|ReduceSum)$/.test(node.opType);
const arithmetic = ({ opType }: Node) => /^(Add|Sub|Mul|Div|Reciprocal|Cast)$/.test(opType);

const isComputedProduct = ({ opType, inputs, outputs: [product] }: Node): boolean =>
  /MatMul|Einsum/.test(opType) &&
  inputs.filter((input) => input && !input.isConstant).length >= 2 &&
  (product?.shape?.length ?? 3) >= 3;

const isOne = (value: Value | undefined) => value !== undefined && uniformValue(value) === 1;

/**
 * Returns the normalization that a variance belongs to: mean((x − mean(x))²) + ε to LayerNormalization, mean(x²) + ε to
 * SimplifiedLayerNormalization. Returns undefined for other values.
 */
function normalizationOf(value: Value | undefined): string | undefined {
  const { inputs = [] } = value?.producer?.is("Add") ? value.producer : {};
  if (!inputs.some((input) => input?.isConstant)) return undefined;
  const mean = inputs.find((input) => /^(ReduceMean|GlobalAveragePool)$/.test(input?.producer?.opType ?? ""));
  const base = squaredIn(mean?.producer?.inputs[0]);
  if (!base) return undefined;
  const node = base.producer?.is("Cast") ? base.producer.inputs[0]?.producer : base.producer;
  return node?.is("Sub") ? "LayerNormalization" : "SimplifiedLayerNormalization";
}

/** Returns x if a value is x², perhaps cast to another type. */
function squaredIn(value: Value | undefined): Value | undefined {
  const node = value?.producer;
  if (node?.is("Cast")) return squaredIn(node.inputs[0]);
  const [x, y] = node?.is("Pow") || node?.is("Mul") ? node.inputs : [];
  return node?.is("Pow") || x === y ? x : undefined;
}

/** Returns the nodes that read the output of `node`, directly or through nodes that satisfy `passes`. */
function readers(node: Node, passes: (node: Node) => boolean): Node[] {
  const found = new Set<Node>();
  const stack = [node];
  for (let next = stack.pop(); next && found.size < MAX_READERS; next = stack.pop()) {
    for (const reader of next.outputs.flatMap((output) => [...(output?.users ?? [])])) {
      if (found.has(reader)) continue;
      found.add(reader);
      if (passes(reader)) stack.push(reader);
    }
  }
  return [...found];
}

/** Maximum number of nodes to return. A sub-layer has fewer. */
const MAX_READERS = 64;

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
  "the embedding tables or sums are quantized; EmbedLayerNormalization needs float tables of four times the size";

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
