import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { constantsSurvive } from "./half-constants.ts";
import { halfOperator } from "./half-operators.ts";
import { nodesNearQuantized } from "./nodes-near-quantized.ts";
import { weightFreeValues } from "./weight-free-values.ts";

/**
 * The nodes of a graph of known types that are computed in half precision. One is, when its operator can be, its constants
 * survive it, and it is none of:
 *
 * - arithmetic on masks, positions and sizes (`plainValues`);
 * - a light operator that reads something in float32: masked scores, or what is compared with a mean, stay so;
 * - part of a quantized computation (`besideQuantized`);
 * - read by name in a sub-graph, which stays in float32 as a whole.
 *
 * What is of unknown type stays as it is, with all that read it.
 *
 * @param exempt names of nodes that are to stay in float32
 */
export function nodesInHalf(graph: Graph, exempt: ReadonlySet<string> = new Set()): ReadonlySet<Node> {
  const order = graph.sorted();
  const plain = weightFreeValues(graph, order);
  const quantized = nodesNearQuantized(order, plain);
  const captured = new Set(order.flatMap(({ captures }) => captures));
  const survive = constantsSurvive();
  const halves = new Set<Node>();
  for (const node of order) {
    const operator = halfOperator(node);
    if (!operator || quantized.has(node) || exempt.has(node.name)) continue;
    const outputs = node.outputs.filter((output) => output !== undefined && graph.isUsed(output)) as Value[];
    const touched = [...node.inputs, ...outputs].filter((value) => value !== undefined);
    if (outputs.some((output) => plain.has(output) || captured.has(output)) || touched.some(isUnknown)) continue;
    if (!touched.some(isSingle)) continue;
    const staysSingle = (input: Value | undefined) =>
      input !== undefined && !input.isConstant && isSingle(input) && !isHalf(input, halves);
    if (!operator.heavy && (operator.isSensitive?.(node.inputs) || node.inputs.some(staysSingle))) continue;
    if (survive(node, operator)) halves.add(node);
  }
  return halves;
}

/** Whether a value that was float32 is computed in half precision. */
export function isHalf(value: Value, halves: ReadonlySet<Node>): boolean {
  const { producer } = value;
  if (!producer || !isSingle(value) || !halves.has(producer)) return false;
  return !halfOperator(producer)?.statistics?.includes(producer.outputs.indexOf(value));
}

export const isSingle = (value: Value): boolean => value.dtype === "float32";

/** Opaque constants are of types that are no float. */
const isUnknown = (value: Value): boolean => value.dtype === undefined && !value.opaque;
