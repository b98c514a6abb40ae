import fc from "fast-check";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";
import type { KernelCase } from "./kernel-case.ts";
import { DENORMAL, ROUNDING } from "./rounding.ts";
import { someRows, widths } from "./sizes.ts";
import { unwritten } from "./strided.ts";

interface Shape {
  readonly rows: number;
  readonly width: number;
}

/** Maximum magnitude for which the sum of all rows is finite. */
const MAX = 1e30;

/**
 * Tolerance of the mean. The kernel sums in float32, and the reference in float64. Each float32 addition and the
 * division add an error of up to half a unit in the last place.
 */
function roundingOfMean(hiddenStates: Float32Array, rows: number, width: number): number[] {
  const magnitudes = sentenceVector(hiddenStates.map(Math.abs), width, { pooling: "mean", normalize: false });
  return Array.from(magnitudes, (magnitude) => ROUNDING * (rows + 1) * magnitude + DENORMAL);
}

const pool = (pooling: "mean" | "max", times: number): KernelCase<Shape> => ({
  shapes: fc.record({ rows: someRows, width: widths }),
  call({ rows, width }, draw) {
    const hiddenStates = draw.floats(rows, width, MAX);
    const out = unwritten(width);
    return {
      operands: [hiddenStates, rows, width, out],
      async results() {
        const values = sentenceVector(hiddenStates, width, { pooling, normalize: false });
        return new Map([
          [out, { values, ...(pooling === "mean" && { within: roundingOfMean(hiddenStates, rows, width) }) }],
        ]);
      },
    };
  },
  passes: ({ tokens, hidden }) => [{ shape: { rows: tokens, width: hidden }, times }],
  unit: "number",
  work: ({ rows, width }) => rows * width,
});

export const poolMeanF32 = pool("mean", 1);
export const poolMaxF32 = pool("max", 0);
