import fc from "fast-check";
import type { KernelCase } from "./kernel-case.ts";
import { matrix, scalarKernel } from "./scalar-kernel.ts";
import { elsewhere, someRows, widths } from "./sizes.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
  /** True if one row is added to all rows. */
  readonly isRow: boolean;
}

export const addRowsF32: KernelCase<Shape> = {
  shapes: fc.record({ rows: someRows, width: widths, isRow: fc.boolean() }),
  call({ rows, width, isRow }, draw) {
    const x = draw.floats(rows, width);
    const y = draw.floats(isRow ? 1 : rows, width);
    const out = unwritten(rows * width);
    return {
      operands: [x, y, isRow ? 0 : 4 * width, rows, width, out],
      async results() {
        const values = await scalarKernel({ opType: "Add" }, [matrix(x, width), matrix(y, width)]);
        return new Map([[out, { values }]]);
      },
    };
  },
  passes: ({ tokens, hidden }) => elsewhere(tokens, (rows) => ({ rows, width: hidden, isRow: false })),
  unit: "number",
  work: ({ rows, width }) => rows * width,
};
