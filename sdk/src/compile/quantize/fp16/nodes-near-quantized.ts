import type { Node, Value } from "../../graph/node.ts";
import { halfOperator } from "./half-operators.ts";

/** Types of quantized activations. */
const QUANTIZED_TYPES = /^u?int(8|16)$/;

/**
 * Returns the nodes before and after quantized activations, up to and including the next MatMul or fused operator. If
 * these nodes ran in half precision, activations could round to other integers. onnxruntime would also not apply its
 * integer fusions, because the fusions match only float32 nodes.
 *
 * @param weightFree values that are masks and positions, not activations
 */
export function nodesNearQuantized(order: readonly Node[], weightFree: ReadonlySet<Value>): ReadonlySet<Node> {
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
