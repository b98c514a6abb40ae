import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { isInteger } from "../../graph/tensor.ts";
import { constantsSurvive } from "./half-constants.ts";
import { halfOperator } from "./half-operators.ts";

/**
 * Returns the nodes of a graph that can be computed in half precision. Half precision must be safe for the operator
 * (`halfOperator`) and precise enough for the constants (`constantsSurvive`). These nodes also stay in float32:
 *
 * - arithmetic on masks, positions and sizes (`weightFreeValues`);
 * - light operators with an input that stays in float32, for example the addition of a mask or the subtraction of a
 *   mean;
 * - nodes of a quantized computation (`nodesNearQuantized`);
 * - nodes whose result a sub-graph reads, because sub-graphs stay in float32.
 *
 * Values of unknown type, and the nodes that read them, stay as they are.
 *
 * @param exempt names of nodes to keep in float32
 */
export function nodesInHalf(graph: Graph, exempt: ReadonlySet<string> = new Set()): ReadonlySet<Node> {
  const order = graph.sorted();
  const weightFree = weightFreeValues(graph, order);
  const quantized = nodesNearQuantized(order, weightFree);
  const captured = new Set(order.flatMap(({ captures }) => captures));
  const survive = constantsSurvive();
  const halves = new Set<Node>();
  for (const node of order) {
    const operator = halfOperator(node);
    if (!operator || quantized.has(node) || exempt.has(node.name)) continue;
    const outputs = node.outputs.filter((output) => output !== undefined && graph.isUsed(output)) as Value[];
    const touched = [...node.inputs, ...outputs].filter((value) => value !== undefined);
    if (outputs.some((output) => weightFree.has(output) || captured.has(output)) || touched.some(isUnknown)) continue;
    if (!touched.some(isFloat32)) continue;
    const staysSingle = (input: Value | undefined) =>
      input !== undefined && !input.isConstant && isFloat32(input) && !isHalf(input, halves);
    if (!operator.heavy && (operator.isSensitive?.(node.inputs) || node.inputs.some(staysSingle))) continue;
    if (survive(node, operator)) halves.add(node);
  }
  return halves;
}

/** Whether a value that is float32 in the original graph will be computed in half precision. */
export function isHalf(value: Value, halves: ReadonlySet<Node>): boolean {
  const { producer } = value;
  if (!producer || !isFloat32(value) || !halves.has(producer)) return false;
  return !halfOperator(producer)?.statistics?.includes(producer.outputs.indexOf(value));
}

export const isFloat32 = (value: Value): boolean => value.dtype === "float32";

/** Opaque constants, such as strings, never have a float type, so their type does not count as unknown. */
const isUnknown = (value: Value): boolean => value.dtype === undefined && !value.opaque;

/** Types of quantized activations. */
const QUANTIZED_TYPES = /^u?int(8|16)$/;

/**
 * Returns the nodes before and after quantized activations, up to and including the next MatMul or fused operator. If
 * these nodes ran in half precision, activations could round to other integers. onnxruntime would also not apply its
 * integer fusions, because the fusions match only float32 nodes.
 *
 * @param weightFree values that are masks and positions, not activations
 */
function nodesNearQuantized(order: readonly Node[], weightFree: ReadonlySet<Value>): ReadonlySet<Node> {
  const isQuantized = (value: Value | undefined): value is Value =>
    value !== undefined && !value.isConstant && QUANTIZED_TYPES.test(value.dtype ?? "") && !weightFree.has(value);
  const nodes = new Set<Node>();
  const spread = (sequence: readonly Node[], from: Side, to: Side) => {
    const reached = new Set<Value>();
    for (const node of sequence) {
      const isNext = from(node).some((value) => value && reached.has(value));
      if (isNext) nodes.add(node);
      if (!from(node).some(isQuantized) && (!isNext || halfOperator(node)?.heavy)) continue;
      for (const value of to(node)) if (value && !value.isConstant) reached.add(value);
    }
  };
  spread(order, inputsOf, outputsOf);
  spread(order.toReversed(), outputsOf, inputsOf);
  return nodes;
}

type Side = (node: Node) => readonly (Value | undefined)[];
const inputsOf: Side = ({ inputs }) => inputs;
const outputsOf: Side = ({ outputs }) => outputs;

/**
 * Returns the values that are computed from integers and sizes without weights: masks, positions and angles. Positions
 * and angles need exact numbers. Masks contain numbers outside float16's range on purpose.
 */
function weightFreeValues(graph: Graph, order: readonly Node[]): ReadonlySet<Value> {
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
