import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { whyUnlikeAttention } from "./attention/unlike-attention.ts";

/**
 * Returns the reason why onnxruntime has no operator for a sub-layer that consists of several nodes. Returns undefined if
 * there is no such reason. No rule can fuse this sub-layer.
 *
 * @param node a typical node of the sub-layer, such as Softmax for attention
 */
export function whyNoOperator(graph: Graph, pattern: string, node: Node): string | undefined {
  if (isQuantizedInside(node)) return "values in the middle of it are quantized";
  return pattern === "Attention" && node.is("Softmax") ? whyUnlikeAttention(graph, node) : undefined;
}

/** Whether the input or the output of a node is quantized. */
const isQuantizedInside = (node: Node): boolean =>
  node.inputs[0]?.producer?.is("DequantizeLinear") === true || isQuantized(node.output);

/** Whether a value is quantized, perhaps without NaN or with another type. */
const isQuantized = ({ users }: Value): boolean =>
  [...users].some((user) =>
    user.is("Where") || user.is("Cast")
      ? isQuantized(user.output)
      : user.is("QuantizeLinear") || user.is("DynamicQuantizeLinear"),
  );
