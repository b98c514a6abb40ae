import fc from "fast-check";
import { fround } from "../../oracles/reference/float32.ts";
import { layerNormRows, rmsNormRows } from "../../oracles/reference/layer-norm.ts";
import type { Expected, KernelCase, OperandArray } from "./kernel-case.ts";
import { elsewhere, inBlocks, someRows, widths } from "./sizes.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
  readonly skip: boolean;
  readonly beta: boolean;
  /**
   * True if the call has a second output array, for the sum of x and the skip input. Without a skip input, the kernel
   * does not write the array.
   */
  readonly total: boolean;
  readonly epsilon: number;
}

export const layerNormF32: KernelCase<Shape> = {
  shapes: fc.record({
    rows: someRows,
    width: widths,
    skip: fc.boolean(),
    beta: fc.boolean(),
    total: fc.boolean(),
    epsilon: fc.constantFrom(1e-12, 1e-5),
  }),
  call({ rows, width, skip, beta, total, epsilon }, draw) {
    const x = draw.floats(rows, width);
    const added = skip ? draw.floats(rows, width) : undefined;
    const gamma = draw.floats(1, width);
    const offset = beta ? draw.floats(1, width) : undefined;
    const out = unwritten(rows * width);
    const sum = total ? unwritten(rows * width) : out;
    return {
      operands: [x, added ?? 0, gamma, offset ?? 0, rows, width, epsilon, sum, out],
      async results() {
        const totals = added ? x.map((value, i) => fround(value + (added[i] as number))) : x;
        const found = new Map<OperandArray, Expected>();
        if (added) found.set(sum, { values: totals });
        return found.set(out, { values: new Float32Array(layerNormRows(totals, gamma, offset, epsilon)) });
      },
    };
  },
  passes: ({ tokens, layers, hidden }) =>
    inBlocks(tokens, 2 * layers + 1, (rows) => ({
      rows,
      width: hidden,
      skip: true,
      beta: true,
      total: false,
      epsilon: 1e-12,
    })),
  unit: "number",
  work: ({ rows, width }) => rows * width,
};

export const rmsNormF32: KernelCase<Omit<Shape, "beta">> = {
  shapes: fc.record({
    rows: someRows,
    width: widths,
    skip: fc.boolean(),
    total: fc.boolean(),
    epsilon: fc.constantFrom(1e-12, 1e-5),
  }),
  call({ rows, width, skip, total, epsilon }, draw) {
    const x = draw.floats(rows, width);
    const added = skip ? draw.floats(rows, width) : undefined;
    const gamma = draw.floats(1, width);
    const out = unwritten(rows * width);
    const sum = total ? unwritten(rows * width) : out;
    return {
      operands: [x, added ?? 0, gamma, rows, width, epsilon, sum, out],
      async results() {
        const totals = added ? x.map((value, i) => fround(value + (added[i] as number))) : x;
        const found = new Map<OperandArray, Expected>();
        if (added) found.set(sum, { values: totals });
        return found.set(out, { values: new Float32Array(rmsNormRows(totals, gamma, epsilon)) });
      },
    };
  },
  passes: ({ tokens, hidden }) =>
    elsewhere(tokens, (rows) => ({ rows, width: hidden, skip: true, total: true, epsilon: 1e-5 })),
  unit: "number",
  work: ({ rows, width }) => rows * width,
};
