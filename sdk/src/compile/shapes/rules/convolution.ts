import { addDims, type Dim, floorDivDims, subDims } from "../../graph/dim.ts";
import type { Node } from "../../graph/node.ts";
import { type ShapeRule, singleOutput } from "../shape-rule.ts";

/**
 * Returns the output size of one axis: the number of positions of a window of `extent` elements.
 *
 * @param axis index of the axis, not counting batch and channels
 * @param count number of axes, not counting batch and channels
 */
function windows(node: Node, size: Dim, extent: Dim | undefined, axis: number, count: number): Dim | undefined {
  const stride = node.ints("strides")?.[axis] ?? 1;
  const padding = node.string("auto_pad") ?? "NOTSET";
  if (padding.startsWith("SAME")) return floorDivDims(addDims(size, stride - 1), stride);
  if (typeof extent !== "number") return undefined;
  const reach = (extent - 1) * (node.ints("dilations")?.[axis] ?? 1) + 1;
  const pads = padding === "NOTSET" ? (node.ints("pads") ?? []) : [];
  const around = (pads[axis] ?? 0) + (pads[axis + count] ?? 0);
  const steps = subDims(addDims(size, around), reach);
  const rounded = node.int("ceil_mode") === 1 ? addDims(steps, stride - 1) : steps;
  return addDims(stride === 1 ? steps : floorDivDims(rounded, stride), 1);
}

/** Returns the output sizes for a window of the shape `kernel` that moves along all axes; undefined if a size is unknown. */
function windowed(node: Node, sizes: readonly Dim[], kernel: readonly Dim[]): readonly Dim[] | undefined {
  const moved = sizes.map((size, axis) => windows(node, size, kernel[axis], axis, sizes.length));
  return kernel.length === sizes.length && !moved.includes(undefined) ? (moved as Dim[]) : undefined;
}

/** Infers the output [batch, channels, …] of Conv. Its weights are [channels, input channels / groups, …]. */
export const convolution: ShapeRule = singleOutput((node) => {
  const [x, weight] = node.inputs;
  const [batch, , ...sizes] = x?.shape ?? [];
  const [channels, , ...extents] = weight?.shape ?? [];
  const moved = windowed(node, sizes, node.ints("kernel_shape") ?? extents);
  const isKnown = moved && batch !== undefined && channels !== undefined;
  return { dtype: x?.dtype, shape: isKnown ? [batch, channels, ...moved] : undefined };
});

/** Infers the output [batch, channels, …] of AveragePool and MaxPool. */
export const pooling: ShapeRule = singleOutput((node) => {
  const [x] = node.inputs;
  const [batch, channels, ...sizes] = x?.shape ?? [];
  const moved = windowed(node, sizes, node.ints("kernel_shape") ?? []);
  const isKnown = moved && batch !== undefined && channels !== undefined;
  return { dtype: x?.dtype, shape: isKnown ? [batch, channels, ...moved] : undefined };
});
