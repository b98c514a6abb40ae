import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { roundQuotient } from "./scales.ts";

/** Math.round has −0 for numbers from −0.5 to 0. */
const rounded = (quotient: number): number => Math.round(quotient) + 0;

describe("roundQuotient", () => {
  it("rounds quotients of float32 numbers as Math.round does", () => {
    const scale = fc.float({ min: Math.fround(1e-6), max: 1, noNaN: true });
    const near = fc.record({ scale, half: fc.integer({ min: -300, max: 300 }), ulps: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(near, ({ scale, half, ulps }) => {
        // The float32 numbers next to a half of the scale.
        const bits = new Int32Array(Float32Array.of((half + 0.5) * scale).buffer);
        bits[0] = (bits[0] as number) + ulps;
        const weight = new Float32Array(bits.buffer)[0] as number;
        expect(roundQuotient(weight / scale)).toBe(rounded(weight / scale));
      }),
      seeded(1000),
    );
  });

  it.each([0.5, -0.5, 1.5, -1.5, 2.5, 0, -0.25, Number.POSITIVE_INFINITY])("rounds halves up: %d", (quotient) => {
    expect(roundQuotient(quotient)).toBe(rounded(quotient));
  });
});
