import { addDims, type Dim, floorDivDims, subDims } from "../../graph/dim.ts";
import { type ShapeRule, singleOutput } from "../shape-rule.ts";

/** Infers the output [batch, channels, …] of Conv. Its weights are [channels, input channels / groups, …]. */
export const convolution: ShapeRule = singleOutput((node) => {
  const [x, weight] = node.inputs;
  const [batch, , ...sizes] = x?.shape ?? [];
  const [channels, , ...given] = weight?.shape ?? [];
  const kernel = node.ints("kernel_shape") ?? given;
  if (batch === undefined || channels === undefined || kernel.length !== sizes.length) return { dtype: x?.dtype };
  const padding = node.string("auto_pad") ?? "NOTSET";
  const shape: (Dim | undefined)[] = sizes.map((size, axis) => {
    const stride = node.ints("strides")?.[axis] ?? 1;
    const extent = kernel[axis];
    if (padding.startsWith("SAME")) return floorDivDims(addDims(size, stride - 1), stride);
    if (typeof extent !== "number") return undefined;
    const reach = (extent - 1) * (node.ints("dilations")?.[axis] ?? 1) + 1;
    const pads = padding === "NOTSET" ? (node.ints("pads") ?? []) : [];
    const around = (pads[axis] ?? 0) + (pads[axis + sizes.length] ?? 0);
    const steps = subDims(addDims(size, around), reach);
    return addDims(stride === 1 ? steps : floorDivDims(steps, stride), 1);
  });
  return { dtype: x?.dtype, shape: shape.includes(undefined) ? undefined : [batch, channels, ...(shape as Dim[])] };
});
