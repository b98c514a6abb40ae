import fc from "fast-check";
import { MICROSOFT } from "#sdk/compile/graph/node.ts";
import type { KernelCase } from "./kernel-case.ts";
import { matrix, scalarKernel } from "./scalar-kernel.ts";
import { elsewhere, someRows, spare } from "./sizes.ts";
import { columnsOf, withColumns } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly heads: number;
  /** Numbers per head. */
  readonly size: number;
  readonly stride: number;
}

export const rotateF32: KernelCase<Shape> = {
  shapes: fc
    .record({ rows: someRows, heads: fc.constantFrom(1, 2, 3), size: fc.constantFrom(8, 16, 24, 32, 64), spare })
    .map(({ spare, ...shape }) => ({ ...shape, stride: shape.heads * shape.size + spare })),
  call({ rows, heads, size, stride }, draw) {
    const width = heads * size;
    const x = draw.floats(rows, stride);
    const cosines = draw.floats(rows, size / 2);
    const sines = draw.floats(rows, size / 2);
    return {
      operands: [x, stride, rows, width, size, cosines, sines],
      async results() {
        const turned = await scalarKernel({ opType: "RotaryEmbedding", domain: MICROSOFT }, [
          matrix(columnsOf(x, stride, width), width),
          undefined,
          matrix(cosines, size / 2),
          matrix(sines, size / 2),
        ]);
        return new Map([[x, { values: withColumns(x, stride, width, turned) }]]);
      },
    };
  },
  passes: ({ tokens, hidden, heads }) =>
    elsewhere(tokens, (rows) => ({ rows, heads, size: hidden / heads, stride: 3 * hidden })),
  unit: "number",
  work: ({ rows, heads, size }) => rows * heads * size,
};
