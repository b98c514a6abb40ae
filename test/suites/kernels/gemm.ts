import fc from "fast-check";
import { tensor } from "#sdk/compile/graph/tensor.ts";
import { tilePadded, tileWeight } from "#sdk/compile/lower/tile-weight.ts";
import { I8 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { integerProduct } from "../../oracles/reference/integer-product.ts";
import { quantizedLinear } from "../../oracles/reference/linear.ts";
import type { KernelCase } from "./kernel-case.ts";
import { quantizedRows } from "./quantize-rows.ts";
import { inBlocks, someRows, spare, widths } from "./sizes.ts";
import { unwritten, withColumns } from "./strided.ts";

interface Shape {
  readonly m: number;
  readonly k: number;
  readonly n: number;
  readonly stride: number;
}

/** Weights have 7 bits. */
const MIN_WEIGHT = 0;
const MAX_WEIGHT = 127;
/** Maximum scale for which products of two scales are finite. */
const MAX_SCALE = 1e15;

export const gemmInt8: KernelCase<Shape> = {
  shapes: fc
    .record({
      m: someRows,
      k: fc.oneof({ weight: 9, arbitrary: widths }, { weight: 1, arbitrary: fc.constant(3072) }),
      n: fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23),
      spare,
    })
    .map(({ spare, ...shape }) => ({ ...shape, stride: shape.n + spare })),
  call({ m, k, n, stride }, draw) {
    const x = draw.floats(m, k, MAX_SCALE);
    const { values, params } = quantizedRows(x, k);
    const weight = Uint8Array.from(draw.integers(n * k, MIN_WEIGHT, MAX_WEIGHT));
    const scales = draw.floats(1, n, MAX_SCALE);
    const zeroPoints = Int32Array.from(draw.integers(n, MIN_WEIGHT, MAX_WEIGHT));
    const sums = Int32Array.from({ length: n }, (_, row) =>
      weight.subarray(row * k, (row + 1) * k).reduce((total, value) => total + value, 0),
    );
    const bias = draw.floats(1, n);
    const tiled = tileWeight(tensor("uint8", [n, k], weight)).data;
    const columns = [scales, zeroPoints, sums, bias].map(tilePadded);
    const out = unwritten(m * stride);
    return {
      operands: [values, params, m, k, tiled, ...columns, n, out, stride],
      async results() {
        const found = await quantizedLinear(x, { values: weight, scales, zeroPoints, sums, bias }, I8, integerProduct);
        return new Map([[out, { values: withColumns(out, stride, n, found) }]]);
      },
    };
  },
  passes({ tokens, layers, hidden, intermediate }) {
    const matMuls = [
      [hidden, 3 * hidden],
      [hidden, hidden],
      [hidden, intermediate],
      [intermediate, hidden],
    ] as const;
    return matMuls.flatMap(([k, n]) => inBlocks(tokens, layers, (m) => ({ m, k, n, stride: n })));
  },
  unit: "integer MAC",
  work: ({ m, k, n }) => m * k * n,
};
