import fc from "fast-check";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";
import type { KernelCase } from "./kernel-case.ts";
import { LEAST, ROUNDING } from "./rounding.ts";
import { widths } from "./sizes.ts";

interface Shape {
  readonly width: number;
}

const GREATEST = 3e38;

export const normalizeF32: KernelCase<Shape> = {
  shapes: fc.record({ width: widths }),
  call({ width }, draw) {
    const x = draw.floats(1, width, GREATEST);
    return {
      operands: [x, width],
      async results() {
        const values = sentenceVector(x, width, { pooling: "cls", normalize: true });
        // Both sum squares in float64, but in different orders, so that the quotient may round to the next float32.
        const within = Array.from(values, (value) => 2 * ROUNDING * Math.abs(value) + LEAST);
        return new Map([[x, { values, within }]]);
      },
    };
  },
  passes: ({ hidden }) => [{ shape: { width: hidden }, times: 1 }],
  unit: "number",
  work: ({ width }) => width,
};
