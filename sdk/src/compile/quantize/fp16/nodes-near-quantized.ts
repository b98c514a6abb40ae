import type { Node, Value } from "../../graph/node.ts";
import { halfOperator } from "./half-operators.ts";

/** Types of quantized activations. */
const STEPS = /^u?int(8|16)$/;

/**
 * The nodes next to quantized activations, as far as the next matrix product or fused operator, which counts. In half
 * precision a number near the border of two steps would become the other, and onnxruntime would no longer recognise what it
 * computes with integers: its rules know float32.
 *
 * @param plain values that are masks and the like, not activations
 */
export function nodesNearQuantized(order: readonly Node[], plain: ReadonlySet<Value>): ReadonlySet<Node> {
  const isStep = (value: Value | undefined): value is Value =>
    value !== undefined && !value.isConstant && STEPS.test(value.dtype ?? "") && !plain.has(value);
  const nodes = new Set<Node>();
  const spread = (sequence: readonly Node[], from: Side, to: Side) => {
    const reached = new Set<Value>();
    for (const node of sequence) {
      const isNext = from(node).some((value) => value && reached.has(value));
      if (isNext) nodes.add(node);
      if (!from(node).some(isStep) && (!isNext || halfOperator(node)?.heavy)) continue;
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
