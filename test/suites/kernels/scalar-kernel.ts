import type { Value } from "#sdk/compile/graph/node.ts";
import { Sketch, type SketchAttribute } from "../../fixtures/sketch.ts";
import { floatKernels } from "../../oracles/interpreter/float-kernels.ts";
import { integerKernels } from "../../oracles/interpreter/integer-kernels.ts";
import type { KernelInputs } from "../../oracles/interpreter/node-kernel.ts";
import { integerProduct } from "../../oracles/reference/integer-product.ts";

interface Operator {
  readonly opType: string;
  readonly domain?: string;
  readonly settings?: Record<string, SketchAttribute>;
  /** Makes the constant inputs of the node. */
  constants?(sketch: Sketch): readonly (Value | undefined)[];
}

/** Computes the first output of an operator with the reference kernels. */
export async function scalarKernel(
  { opType, domain = "", settings = {}, constants = () => [] }: Operator,
  inputs: KernelInputs,
): Promise<Float32Array<ArrayBuffer>> {
  const sketch = new Sketch();
  const node = sketch.node(opType, constants(sketch), settings, { domain });
  const kernel = { ...floatKernels, ...integerKernels }[`${domain}:${opType}`];
  const results = await kernel?.(node, integerProduct)(inputs);
  return results?.[0]?.data as Float32Array<ArrayBuffer>;
}

/** Makes an operator's input from a matrix. */
export const matrix = (data: Float32Array, width: number) => ({ shape: [data.length / width, width], data });
