import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { isView } from "../graph/operators.ts";
import { uniformValue } from "../graph/uniform-value.ts";
import type { Trace, UnfusedReason } from "../rewrite/trace.ts";
import { isFusedAttention } from "./fused-operators.ts";

/**
 * Why a graph is not completely fused: one reason for every attention, layer normalization and activation of the known
 * forms that is still written out, with what kept its rule from applying. Empty when it is complete. A graph without any
 * attention is not an encoder that is known here, and says so.
 */
export function unfusedParts(graph: Graph, trace: Trace): UnfusedReason[] {
  const reasons = [...graph.nodes].flatMap((node) => {
    const pattern = decomposed(node);
    return pattern ? [trace.reasonFor(pattern.rules, pattern.nodes) ?? generic(pattern, node)] : [];
  });
  if (reasons.length === 0 && ![...graph.nodes].some(isFusedAttention)) {
    reasons.push({ pattern: "Attention", node: "", why: "the graph has no attention of a known form" });
  }
  return [...reasons, ...trace.notes];
}

interface Leftover {
  /** Rules that should have fused it. */
  readonly rules: readonly [string, ...string[]];
  /** Nodes at which they may have failed. */
  readonly nodes: readonly Node[];
  /** What no fused operator computes, when that is plain to see. */
  readonly obstacle?: Node | undefined;
}

const generic = ({ rules: [pattern], obstacle }: Leftover, node: Node): UnfusedReason =>
  obstacle
    ? { pattern, node: obstacle.origin, why: `no fused operator computes ${obstacle.opType} in the midst of it` }
    : { pattern, node: node.origin, why: `${node.opType} is part of one, but not in a known form` };

/** Recognises what is left of a sub-layer by its most telling node. */
function decomposed(node: Node): Leftover | undefined {
  if (node.domain !== "") return undefined;
  switch (node.opType) {
    // A softmax may be written out as well.
    case "Exp":
    case "Softmax": {
      const after = readers(node, (reader) => !ends.test(reader.opType));
      const products = after.filter(isComputedProduct);
      const obstacle = after.find((reader) => !ends.test(reader.opType) && !harmless(reader));
      return products.length > 0 ? { rules: ["Attention"], nodes: products, obstacle } : undefined;
    }
    case "Attention":
      return { rules: ["Attention"], nodes: [node] };
    case "Sqrt":
      return isVariance(node.inputs[0])
        ? { rules: ["LayerNormalization"], nodes: readers(node, arithmetic) }
        : undefined;
    case "Erf":
      return { rules: ["Gelu"], nodes: readers(node, arithmetic) };
    case "Tanh":
      return [...node.output.users].some((user) => user.is("Add") && user.inputs.some((input) => isOne(input)))
        ? { rules: ["FastGelu"], nodes: readers(node, arithmetic) }
        : undefined;
    default:
      return undefined;
  }
}

/** Where probabilities have become something else. */
const ends = /MatMul|Einsum|Gemm|Conv|Attention|Normalization/;
/** What may stand between probabilities and their product with values. */
const harmless = (node: Node) =>
  isView(node) || /^(Where|IsNaN|Cast|Transpose|Dropout|Div|ReduceSum)$/.test(node.opType);
const arithmetic = ({ opType }: Node) => /^(Add|Sub|Mul|Div|Reciprocal|Cast)$/.test(opType);

const isComputedProduct = ({ opType, inputs, outputs: [product] }: Node): boolean =>
  /MatMul|Einsum/.test(opType) &&
  inputs.filter((input) => input && !input.isConstant).length >= 2 &&
  (product?.shape?.length ?? 3) >= 3;

const isOne = (value: Value | undefined) => value !== undefined && uniformValue(value) === 1;

/** mean((x − mean(x))²) + ε; the mean of x² alone is another normalization, of no form that is fused. */
function isVariance(value: Value | undefined): boolean {
  const { inputs = [] } = value?.producer?.is("Add") ? value.producer : {};
  return (
    inputs.some((input) => input?.isConstant) &&
    inputs.some((input) => {
      const mean = input?.producer;
      return /^(ReduceMean|GlobalAveragePool)$/.test(mean?.opType ?? "") && isCentredSquare(mean?.inputs[0]);
    })
  );
}

function isCentredSquare(value: Value | undefined): boolean {
  const node = value?.producer;
  if (node?.is("Cast")) return isCentredSquare(node.inputs[0]);
  const base = node?.is("Pow") || node?.is("Mul") ? node.inputs[0]?.producer : undefined;
  return (base?.is("Cast") ? base.inputs[0]?.producer : base)?.is("Sub") === true;
}

/** Nodes after this one, as far as they are reached through such as satisfy `passes`. */
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

/** A sub-layer has fewer nodes than this. */
const MAX_READERS = 64;
