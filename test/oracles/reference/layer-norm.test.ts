import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../../fixtures/seeded.ts";
import { layerNormRows } from "./layer-norm.ts";

const EPSILON = 1e-5;
/**
 * Maximum error in units of one rounding. One rounding is 2⁻²⁴ · (|γ| · (|x̂| + max |x| / σ) + |β|), where x̂ is the
 * normalized x. Measured: 2.3.
 */
const ROUNDINGS = 4;

const floats = (length: number, reach: number) =>
  fc.float32Array({ minLength: length, maxLength: length, min: -reach, max: reach, noNaN: true });

const sizes = fc.record({ rows: fc.integer({ min: 1, max: 3 }), width: fc.constantFrom(1, 2, 3, 5, 7, 16, 33, 384) });
const inputs = sizes.chain(({ rows, width }) =>
  fc.record({
    x: fc.oneof(
      floats(rows * width, 4),
      floats(rows * width, 1000),
      floats(rows * width, 1).map((x) => x.map((value) => value + 30)),
    ),
    gamma: floats(width, 2),
    beta: fc.option(floats(width, 2), { nil: undefined }),
  }),
);

describe("layerNorm", () => {
  it("computes its formula, within the rounding of float32", () => {
    fc.assert(
      fc.property(inputs, ({ x, gamma, beta }) => {
        const width = gamma.length;
        const found = layerNormRows(x, gamma, beta, EPSILON);
        for (let start = 0; start < x.length; start += width) {
          const row = [...x.subarray(start, start + width)];
          const mean = row.reduce((total, value) => total + value, 0) / width;
          const variance = row.reduce((total, value) => total + (value - mean) ** 2, 0) / width;
          const deviation = Math.sqrt(variance + EPSILON);
          const peak = Math.max(...row.map(Math.abs));
          row.forEach((value, i) => {
            const normalized = (value - mean) / deviation;
            const [gain, offset] = [gamma[i] as number, beta?.[i] ?? 0];
            const size = Math.abs(gain) * (Math.abs(normalized) + peak / deviation) + Math.abs(offset);
            const difference = Math.abs((found[start + i] as number) - (normalized * gain + offset));
            expect(difference).toBeLessThanOrEqual(ROUNDINGS * 2 ** -24 * size + 2 ** -140);
          });
        }
      }),
      seeded(150),
    );
  });

  it("returns β for a row of equal numbers", () => {
    const beta = Float32Array.of(1, -2, 3);
    expect(layerNormRows(new Float32Array(3).fill(0.1), Float32Array.of(5, 5, 5), beta, EPSILON)).toEqual(beta);
  });

  it("returns NaN for rows with NaN or infinity, and for no others", () => {
    const x = Float32Array.of(1, 2, Number.NaN, 1, 2, 3, Number.POSITIVE_INFINITY, 2, 3);
    const [gamma, beta] = [new Float32Array(3).fill(1), new Float32Array(3)];
    const found = layerNormRows(x, gamma, beta, EPSILON);
    expect([...found].map(Number.isNaN)).toEqual([true, true, true, false, false, false, true, true, true]);
    expect(found.subarray(3, 6)).toEqual(layerNormRows(x.subarray(3, 6), gamma, beta, EPSILON));
  });
});
