import fc from "fast-check";
import * as scalar from "../../oracles/reference/activation.ts";
import type { KernelCase } from "./kernel-case.ts";
import { elsewhere, inBlocks, someRows, spare, widths } from "./sizes.ts";
import { columnsOf, unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
  readonly stride: number;
  /** Parameter of swishF32; the other kernels ignore it. */
  readonly alpha: number;
}

const activation = (of: (alpha: number) => scalar.ActivationFunction, isOfBert = false): KernelCase<Shape> => ({
  shapes: fc
    .record({ rows: someRows, width: widths, spare, alpha: fc.constantFrom(1, 1.702) })
    .map(({ spare, ...shape }) => ({ ...shape, stride: shape.width + spare })),
  call({ rows, width, stride, alpha }, draw) {
    const x = draw.floats(rows, stride);
    const out = unwritten(rows * width);
    return {
      operands: [x, stride, rows, width, out, alpha],
      results: async () => new Map([[out, { values: columnsOf(x, stride, width).map(of(alpha)) }]]),
    };
  },
  passes({ tokens, layers, intermediate }) {
    const shapeOf = (rows: number) => ({ rows, width: intermediate, stride: intermediate, alpha: 1 });
    return isOfBert ? inBlocks(tokens, layers, shapeOf) : elsewhere(tokens, shapeOf);
  },
  unit: "number",
  work: ({ rows, width }) => rows * width,
});

export const geluF32 = activation(() => scalar.gelu, true);
export const fastGeluF32 = activation(() => scalar.fastGelu);
export const reluF32 = activation(() => scalar.relu);
export const tanhF32 = activation(() => scalar.tanh);
export const sigmoidF32 = activation(() => scalar.sigmoid);
export const swishF32 = activation(scalar.swish);
