import type { Node } from "../../graph/node.ts";
import { axesOf, normalizeAxis } from "../../shapes/shape-rule.ts";

/** Whether a node computes means over the last axis, and keeps this axis. */
export const overLastAxis = (node: Node): boolean => {
  const rank = node.inputs[0]?.shape?.length;
  if (rank === undefined || node.int("keepdims") === 0) return false;
  // tf2onnx uses GlobalAveragePool, the mean over all axes after the second. For a tensor of three axes, that is the last
  // axis.
  if (node.opType === "GlobalAveragePool") return rank === 3;
  const axes = axesOf(node, 1)?.map((axis) => normalizeAxis(axis, rank));
  return axes?.length === 1 && axes[0] === rank - 1;
};
