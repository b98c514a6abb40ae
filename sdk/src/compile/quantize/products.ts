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
  // Operators of integers take queries, keys and values of one width.
  const isWhole = isAttention && !past && !node.ints("qkv_hidden_sizes");
  if (!x || !isMatrix(weight) || !(node.is("MatMul") || isWhole)) return undefined;
  return { name: node.name, x, weight, bias: isAttention ? bias : undefined };
}

function isMatrix(value: Value | undefined): value is Product["weight"] {
  const { dtype, shape = [] } = value?.constant ?? {};
  return dtype === "float32" && shape.length === 2 && (shape[1] ?? 0) >= MIN_OUTPUTS;
}

/** All products of a graph, in order. */
export const productsOf = (graph: Graph): Product[] => graph.sorted().flatMap((node) => productOf(node) ?? []);

/** Products that lead from the hidden width to the intermediate one, or back: there are both. */
export function feedForwardProducts(graph: Graph): Product[] {
  const products = productsOf(graph).filter(({ bias }) => bias === undefined);
  const shapes = new Set(products.map(({ weight }) => weight.constant.shape.join()));
  return products.filter(({ weight }) => {
    const [inputs, outputs] = weight.constant.shape;
    return inputs !== outputs && shapes.has(`${outputs},${inputs}`);
  });
}
