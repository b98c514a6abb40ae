import fc from "fast-check";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";
import type { KernelCase } from "./kernel-case.ts";
import { DENORMAL, ROUNDING } from "./rounding.ts";
import { widths } from "./sizes.ts";

interface Shape {
  readonly width: number;
}

const MAX = 3e38;

export const normalizeF32: KernelCase<Shape> = {
  shapes: fc.record({ width: widths }),
  call({ width }, draw) {
    const x = draw.floats(1, width, MAX);
    return {
      operands: [x, width],
      async results() {
        const values = sentenceVector(x, width, { pooling: "cls", normalize: true });
        // The kernel and the reference sum squares in float64, but in different orders, so the quotient may round to
        // the next float32.
        const within = Array.from(values, (value) => 2 * ROUNDING * Math.abs(value) + DENORMAL);
        return new Map([[x, { values, within }]]);
      },
    };
  },
  passes: ({ hidden }) => [{ shape: { width: hidden }, times: 1 }],
  unit: "number",
  work: ({ width }) => width,
};
