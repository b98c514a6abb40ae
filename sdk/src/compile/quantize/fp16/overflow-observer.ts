import type { Graph } from "../../graph/graph.ts";
import { int, type Node, type Value } from "../../graph/node.ts";
import type { Observer } from "../calibration/observe-values.ts";
import { isFloat32, nodesInHalf } from "./nodes-in-half.ts";

/**
 * Maximum magnitude that counts as safe: a quarter of 65504, the maximum of float16. Other texts can have larger activations than the
 * texts checked here.
 */
const MAX_PEAK = 65_504 / 4;

/**
 * Finds the nodes of a float32 graph that could overflow in half precision: nodes with an input or result above
 * `MAX_PEAK` for some text. Running the fp16 graph on a CPU would not show overflows, because onnxruntime computes in
 * float32 on CPUs. `overflowing` returns the names of the nodes, for `toFp16`.
 */
export function overflowObserver(fused: Graph): Observer & { readonly overflowing: () => Set<string> } {
  const halves = [...nodesInHalf(fused)];
  const values = [...new Set(halves.flatMap(({ outputs }) => outputs.filter(isUsedFloat)))];
  const peaks = new Map(values.map((value) => [value, 0]));
  // The comparison is false for NaN, so NaN counts as an overflow.
  const isSafe = (value: Value | undefined) =>
    value === undefined || !peaks.has(value) || (peaks.get(value) ?? 0) <= MAX_PEAK;
  const overflows = ({ inputs, outputs }: Node) => ![...inputs, ...outputs].every(isSafe);
  return {
    values,
    summarize(graph, copy) {
      const magnitudes = graph.add("Abs", [copy]).output;
      return [graph.add("ReduceMax", [magnitudes], { attributes: { keepdims: int(0) } }).output];
    },
    add(value, [maximum]) {
      peaks.set(value, Math.max(peaks.get(value) ?? 0, maximum?.[0] as number));
    },
    overflowing: () => new Set(halves.filter(overflows).map(({ name }) => name)),
  };
}

const isUsedFloat = (value: Value | undefined): value is Value =>
  value !== undefined && isFloat32(value) && value.users.size > 0;
