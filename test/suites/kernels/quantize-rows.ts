import fc from "fast-check";
import { I8 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { quantizeRows } from "../../oracles/reference/quantize-rows.ts";
import type { Expected, KernelCase, OperandArray } from "./kernel-case.ts";
import { inBlocks, someRows, spare, widths } from "./sizes.ts";
import { columnsOf } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
  readonly isScaled: boolean;
}

/** Maximum magnitude for which the difference of two numbers is finite. */
const MAX = 1.6e38;

/**
 * Quantizes rows to the input format of gemmInt8.
 *
 * @returns `values`: the quantized rows. `params`: four 32-bit numbers per row, which are the scale, the zero point,
 * Σ values − width · zero point, and 0.
 */
export function quantizedRows(x: Float32Array, width: number) {
  const { values, scales, zeroPoints, sums } = quantizeRows(x, width, I8);
  const params = new Float32Array(4 * scales.length);
  const integers = new Int32Array(params.buffer);
  scales.forEach((scale, row) => {
    params[4 * row] = scale;
    integers[4 * row + 1] = zeroPoints[row] as number;
    integers[4 * row + 2] = (sums[row] as number) - width * (zeroPoints[row] as number);
  });
  return { values: new Int8Array(values), params: new Uint8Array(params.buffer) };
}

export const quantizeRowsInt8: KernelCase<Shape> = {
  shapes: fc.record({ rows: someRows, width: widths, isScaled: fc.boolean() }),
  call({ rows, width, isScaled }, draw) {
    const x = draw.floats(rows, width, isScaled ? Math.sqrt(MAX) : MAX);
    const factors = isScaled ? draw.floats(1, width, Math.sqrt(MAX)) : 0;
    const out = new Int8Array(rows * width).fill(-86);
    // Each row has four words of 32 bits. The kernel does not write the last word.
    const params = new Uint8Array(rows * 16);
    return {
      operands: [x, factors, rows, width, out, params],
      async results() {
        const found = quantizedRows(factors ? x.map((value, i) => value * (factors[i % width] as number)) : x, width);
        return new Map<OperandArray, Expected>([
          [out, { values: found.values }],
          [params, { values: found.params }],
        ]);
      },
    };
  },
  passes: ({ tokens, layers, hidden, intermediate }) => [
    ...inBlocks(tokens, 3 * layers, (rows) => ({ rows, width: hidden, isScaled: true })),
    ...inBlocks(tokens, layers, (rows) => ({ rows, width: intermediate, isScaled: true })),
  ],
  unit: "number",
  work: ({ rows, width }) => rows * width,
};

interface ColumnsShape {
  readonly rows: number;
  readonly width: number;
  readonly stride: number;
}

export const quantizeColumnsInt8: KernelCase<ColumnsShape> = {
  shapes: fc
    .record({ rows: someRows, width: widths, spare })
    .map(({ rows, width, spare }) => ({ rows, width, stride: width + spare })),
  call({ rows, width, stride }, draw) {
    const x = draw.floats(rows, stride, MAX);
    const out = new Int8Array(rows * width).fill(-86);
    // Each row has four words of 32 bits. The kernel does not write the last word.
    const params = new Uint8Array(rows * 16);
    return {
      operands: [x, stride, rows, width, out, params],
      async results() {
        const found = quantizedRows(columnsOf(x, stride, width, 0), width);
        return new Map<OperandArray, Expected>([
          [out, { values: found.values }],
          [params, { values: found.params }],
        ]);
      },
    };
  },
  passes: ({ tokens, hidden, heads }) => [{ shape: { rows: tokens, width: hidden / heads, stride: hidden }, times: 0 }],
  unit: "number",
  work: ({ rows, width }) => rows * width,
};
