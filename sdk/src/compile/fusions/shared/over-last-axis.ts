import type { Node } from "../../graph/node.ts";
import { axesOf, normalizeAxis } from "../../shapes/shape-rule.ts";

/** Whether a node computes means over the last axis, and keeps this axis. If not, returns the reason. */
export const overLastAxis = (node: Node): true | string => {
  const rank = node.inputs[0]?.shape?.length;
  if (rank === undefined) return "has an input whose shape is unknown";
  // tf2onnx uses GlobalAveragePool, the mean over all axes after the second. For a tensor of three axes, that is the last
  // axis.
  const axes =
    node.opType === "GlobalAveragePool"
      ? Array.from({ length: rank - 2 }, (_, i) => i + 2)
      : axesOf(node, 1)?.map((axis) => normalizeAxis(axis, rank));
  if (axes?.length !== 1 || axes[0] !== rank - 1) return "is not a mean over the last axis only";
  return node.int("keepdims") === 0 ? "does not keep the last axis" : true;
};
