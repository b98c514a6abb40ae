import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { isInteger } from "../../graph/tensor.ts";

/**
 * Returns the values that are computed from integers and sizes without weights: masks, positions and angles. Positions
 * and angles need exact numbers. Masks contain numbers outside float16's range on purpose.
 */
export function weightFreeValues(graph: Graph, order: readonly Node[]): ReadonlySet<Value> {
  const weightFree = new Set(graph.inputs.filter(({ dtype }) => isInteger(dtype)));
  for (const node of order) {
    const isWeightFree =
      isSize(node) ||
      (node.domain === "" &&
        [...node.inputs, ...node.captures].every((input) => !input || input.isConstant || weightFree.has(input)) &&
        !node.inputs.some(isWeight));
    if (isWeightFree) for (const output of node.outputs) if (output) weightFree.add(output);
  }
  return weightFree;
}

/** Whether a node reads only the shape of its input, so that the input's type does not matter. */
export const isSize = (node: Node): boolean => node.is("Shape") || node.is("Size");

/** Whether a value is a weight: a constant with two or more axes, of a float or 8-bit type. */
function isWeight(value: Value | undefined): boolean {
  if (value?.opaque) return true;
  const { dtype = "", shape = [] } = value?.constant ?? {};
  return /float|int8/.test(dtype) && shape.filter((size) => size > 1).length >= 2;
}
