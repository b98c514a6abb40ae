import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { constantsSurvive } from "./half-constants.ts";
import { halfOperator } from "./half-operators.ts";
import { nodesNearQuantized } from "./nodes-near-quantized.ts";
import { weightFreeValues } from "./weight-free-values.ts";

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
