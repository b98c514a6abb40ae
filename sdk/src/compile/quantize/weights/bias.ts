import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import type { Product } from "../products.ts";

/** A product's bias with what its weight's rounding takes from the mean of each output; undefined where it has neither. */
export function biasOf(graph: Graph, { name, bias }: Product, shift: Float32Array | undefined): Value | undefined {
  if (!shift || (bias && !bias.constant)) return bias;
  const before = bias?.constant && toFloat32(bias.constant);
  const values = shift.map((value, i) => value + (before?.[i] ?? 0));
  return graph.constant(`${name}.bias`, tensor("float32", [values.length], values as Float32Array<ArrayBuffer>));
}
