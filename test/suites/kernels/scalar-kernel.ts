import type { Value } from "../../../sdk/src/build/graph/node.ts";
import { floatKernels } from "../../../sdk/src/build/scalar/float-kernels.ts";
import { integerKernels } from "../../../sdk/src/build/scalar/integer-kernels.ts";
import { integerProduct } from "../../../sdk/src/build/scalar/integer-product.ts";
import type { Inputs } from "../../../sdk/src/build/scalar/kernel.ts";
import { type Setting, Sketch } from "../sketch.ts";

interface Operator {
  readonly opType: string;
  readonly domain?: string;
  readonly settings?: Record<string, Setting>;
  /** Those inputs that the operator's kernel reads once, from its node. */
  constants?(sketch: Sketch): readonly (Value | undefined)[];
}

/** The first result of an operator in plain code. */
export async function scalarKernel(
  { opType, domain = "", settings = {}, constants = () => [] }: Operator,
  inputs: Inputs,
): Promise<Float32Array<ArrayBuffer>> {
  const sketch = new Sketch();
  const node = sketch.node(opType, constants(sketch), settings, { domain });
  const kernel = { ...floatKernels, ...integerKernels }[`${domain}:${opType}`];
  const results = await kernel?.(node, integerProduct)(inputs);
  return results?.[0]?.data as Float32Array<ArrayBuffer>;
}

/** A matrix as operators read it. */
export const matrix = (data: Float32Array, width: number) => ({ shape: [data.length / width, width], data });
