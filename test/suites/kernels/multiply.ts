import fc from "fast-check";
import type { KernelCase } from "./kernel-case.ts";
import { matrix, scalarKernel } from "./scalar-kernel.ts";
import { elsewhere, someRows, spare, widths } from "./sizes.ts";
import { columnsOf, unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
  readonly xStride: number;
  /** Stride of y; 0 to multiply all rows of x by one row. */
  readonly yStride: number;
}

export const multiplyF32: KernelCase<Shape> = {
  shapes: fc
    .record({ rows: someRows, width: widths, ofX: spare, ofY: fc.option(spare) })
    .map(({ rows, width, ofX, ofY }) => ({
      rows,
      width,
      xStride: width + ofX,
      yStride: ofY === null ? 0 : width + ofY,
    })),
  call({ rows, width, xStride, yStride }, draw) {
    const x = draw.floats(rows, xStride);
    const y = yStride === 0 ? draw.floats(1, width) : draw.floats(rows, yStride);
    const out = unwritten(rows * width);
    return {
      operands: [x, xStride, y, yStride, rows, width, out],
      async results() {
        const operands = [columnsOf(x, xStride, width), columnsOf(y, yStride || width, width)];
        const values = await scalarKernel(
          { opType: "Mul" },
          operands.map((operand) => matrix(operand, width)),
        );
        return new Map([[out, { values }]]);
      },
    };
  },
  passes: ({ tokens, intermediate }) =>
    elsewhere(tokens, (rows) => ({ rows, width: intermediate, xStride: 2 * intermediate, yStride: 2 * intermediate })),
  unit: "number",
  work: ({ rows, width }) => rows * width,
};
