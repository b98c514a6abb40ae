import fc from "fast-check";
import type { KernelCase } from "./kernel-case.ts";
import { matrix, scalarKernel } from "./scalar-kernel.ts";
import { elsewhere, widths } from "./sizes.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly k: number;
  readonly n: number;
}

export const gemvF32: KernelCase<Shape> = {
  shapes: fc.record({ rows: fc.constantFrom(1, 2, 3, 7), k: widths, n: fc.constantFrom(1, 2, 3, 5, 8, 9) }),
  call({ rows, k, n }, draw) {
    const x = draw.floats(rows, k);
    const weight = draw.floats(n, k);
    const bias = draw.floats(1, n);
    const out = unwritten(rows * n);
    return {
      operands: [x, rows, k, weight, bias, n, out],
      async results() {
        const transposed = weight.map((_, at) => weight[(at % n) * k + Math.floor(at / n)] as number);
        const product = await scalarKernel({ opType: "MatMul" }, [matrix(x, k), matrix(transposed, n)]);
        const values = await scalarKernel({ opType: "Add" }, [matrix(product, n), matrix(bias, n)]);
        return new Map([[out, { values }]]);
      },
    };
  },
  passes: ({ tokens, hidden }) => elsewhere(tokens, () => ({ rows: 1, k: hidden, n: hidden })),
  unit: "float MAC",
  work: ({ rows, k, n }) => rows * k * n,
};
