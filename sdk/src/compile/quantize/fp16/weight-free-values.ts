import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { isInteger } from "../../graph/tensor.ts";

/**
 * Values that are computed from whole numbers and sizes without any weights: masks, positions, angles. Their numbers are
 * exact, or beyond half precision's range on purpose.
 */
export function weightFreeValues(graph: Graph, order: readonly Node[]): ReadonlySet<Value> {
  const plain = new Set(graph.inputs.filter(({ dtype }) => isInteger(dtype)));
  for (const node of order) {
    const isPlain =
      isSize(node) ||
      (node.domain === "" &&
        [...node.inputs, ...node.captures].every((input) => !input || input.isConstant || plain.has(input)) &&
        !node.inputs.some(isTable));
    if (isPlain) for (const output of node.outputs) if (output) plain.add(output);
  }
  return plain;
}

/** Reads a value's shape alone, in whatever type. */
export const isSize = (node: Node): boolean => node.is("Shape") || node.is("Size");

/** Weights: a matrix at least, of a type that weights are stored in. */
function isTable(value: Value | undefined): boolean {
  if (value?.opaque) return true;
  const { dtype = "", shape = [] } = value?.constant ?? {};
  return /float|int8/.test(dtype) && shape.filter((size) => size > 1).length >= 2;
}
