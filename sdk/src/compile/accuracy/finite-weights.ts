import { BertEdgeError } from "../../artifact/error.ts";
import { canBeConstant } from "../../runtime/are-finite.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { isInteger, numbersOf, reading, type Tensor, toFloat32 } from "../graph/tensor.ts";

/**
 * Refuses a graph with NaN or infinite weights. Later checks would miss these weights: quantizers turn NaN and infinity
 * into ordinary numbers, and probe texts read only a few rows of a table.
 *
 * Two kinds of constants may contain infinite numbers: masks that consist of 0 and −∞, and constants with a single
 * number. A single infinite number is a bound, not a weight.
 *
 * @param source names the graph in the error message
 * @throws BertEdgeError `weights_invalid` with the constant and the node that reads it
 */
export function assertFiniteWeights(graph: Graph, source: string): void {
  for (const value of graph.constants()) {
    const { constant } = value;
    if (!constant || isInteger(constant.dtype) || reading(constant, isSound)) continue;
    throw new BertEdgeError(
      "weights_invalid",
      `${source}: ${value.name}, ${readerOf(value)}, holds NaN or infinite numbers.`,
      {
        hint: "The training diverged, or the file is damaged. Use an earlier checkpoint, or download the file again.",
      },
    );
  }
}

const isSound = (tensor: Tensor): boolean =>
  canBeConstant(tensor.dtype === "float64" ? Float64Array.from(numbersOf(tensor)) : toFloat32(tensor));

function readerOf({ users }: Value): string {
  const [reader] = users;
  return reader ? `which ${reader.name || reader.opType} reads` : "an output";
}
