import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";

/** Fewer output channels are neither many bytes nor much time, and often a task's last word. */
const MIN_OUTPUTS = 16;

/** A matrix product with a constant weight: x · weight + bias. */
export interface Product {
  readonly name: string;
  readonly x: Value;
  /** A constant, float32 [in, out]. */
  readonly weight: Value & { readonly constant: Tensor };
  /** [out] */
  readonly bias: Value | undefined;
}

/** The product that a node computes, or begins with; undefined for others. */
export function productOf(node: Node): Product | undefined {
  const isAttention = node.is("Attention", MICROSOFT);
  const [x, weight, bias, , past] = node.inputs;
  if (!x || !isMatrix(weight) || !(node.is("MatMul") || (isAttention && !past))) return undefined;
  return { name: node.name, x, weight, bias: isAttention ? bias : undefined };
}

function isMatrix(value: Value | undefined): value is Product["weight"] {
  const { dtype, shape = [] } = value?.constant ?? {};
  return dtype === "float32" && shape.length === 2 && (shape[1] ?? 0) >= MIN_OUTPUTS;
}

/** All products of a graph, in order. */
export const productsOf = (graph: Graph): Product[] => graph.sorted().flatMap((node) => productOf(node) ?? []);

/** Whether a product leads from the hidden width to the intermediate one, or back. */
export const isFeedForward = ({ weight, bias }: Product): boolean => {
  const [inputs, outputs] = weight.constant.shape;
  return inputs !== outputs && bias === undefined;
};
