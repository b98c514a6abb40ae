import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { I8, U7 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { seeded } from "../../fixtures/seeded.ts";
import { quantizeRows, quantizeRowsSymmetric } from "./quantize-rows.ts";

/**
 * Maximum error in units of the scale: one half for rounding to an integer, plus three float32 roundings. The rounded
 * numbers are 1/scale, x · (1/scale) and the scale. Quantized numbers are up to 255 units large, so each float32
 * rounding error is multiplied by up to 255.
 */
const HALF_A_SCALE = 0.5 + 3 * 255 * 2 ** -24;

const finite = { noNaN: true, noDefaultInfinity: true } as const;
const number = fc.oneof(
  fc.float({ ...finite, min: -1, max: 1 }),
  // With these limits, the range of a row is finite in float32.
  fc.float({ ...finite, min: Math.fround(-1.6e38), max: Math.fround(1.6e38) }),
  fc.constantFrom(0, 2 ** -149, -(2 ** -149), 2 ** -100, 1e-30, -1e30).map(Math.fround),
);
const rows = fc
  .record({ count: fc.integer({ min: 1, max: 4 }), width: fc.constantFrom(1, 2, 3, 5, 7, 33) })
  .chain(({ count, width }) =>
    fc
      .array(number, { minLength: count * width, maxLength: count * width })
      .map((values) => ({ x: Float32Array.from(values), width })),
  );

describe.each([
  ["signed", I8],
  ["of seven bits", U7],
])("quantizeRows, %s", (_, range) => {
  it("has an error of at most half a scale, and returns the sum of each row", () => {
    fc.assert(
      fc.property(rows, ({ x, width }) => {
        const { values, scales, zeroPoints, sums } = quantizeRows(x, width, range);
        expect([scales.length, zeroPoints.length, sums.length]).toEqual(new Array(3).fill(x.length / width));
        scales.forEach((scale, row) => {
          expect(scale).toBeGreaterThan(0);
          const image = zeroPoints[row] as number;
          const own = [...values.subarray(row * width, (row + 1) * width)];
          expect(sums[row]).toBe(own.reduce((total, value) => total + value, 0));
          own.forEach((value, i) => {
            expect(value >= range.min && value <= range.max).toBe(true);
            const error = Math.abs((x[row * width + i] as number) / scale - (value - image));
            expect(error).toBeLessThanOrEqual(HALF_A_SCALE);
          });
        });
      }),
      seeded(500),
    );
  });

  it("keeps zero exactly, whatever else is in the row", () => {
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 9 }), (others) => {
        const { values, zeroPoints } = quantizeRows(Float32Array.of(0, ...others), others.length + 1, range);
        expect(values[0]).toBe(zeroPoints[0]);
        expect(zeroPoints[0]).toBeGreaterThanOrEqual(range.min);
        expect(zeroPoints[0]).toBeLessThanOrEqual(range.max);
      }),
      seeded(300),
    );
  });

  it("leaves at most one integer of its range unused", () => {
    fc.assert(
      fc.property(fc.array(fc.float({ ...finite, min: -9, max: 9 }), { minLength: 1, maxLength: 9 }), (others) => {
        const { values } = quantizeRows(Float32Array.of(0, 1, ...others), others.length + 2, range);
        expect(Math.max(...values) - Math.min(...values)).toBeGreaterThanOrEqual(range.max - range.min - 1);
      }),
      seeded(300),
    );
  });

  it("uses the whole range for one huge number", () => {
    const { values, zeroPoints } = quantizeRows(Float32Array.of(1, -1, 1e30, 0.5), 4, range);
    expect([...values]).toEqual([zeroPoints[0], zeroPoints[0], range.max, zeroPoints[0]]);
  });

  it("quantizes rows of zeros, or of numbers below 2⁻¹⁰⁰ / 510, to the zero point", () => {
    const tiny = new Float32Array(6).fill(2 ** -149);
    const { values, scales, zeroPoints } = quantizeRows(Float32Array.of(0, 0, 0, ...tiny), 3, range);
    expect(new Set(values)).toEqual(new Set(zeroPoints));
    expect(scales.every((scale) => scale > 0 && Number.isFinite(scale))).toBe(true);
  });

  it("returns a finite scale except for rows with NaN, infinity or a range beyond float32", () => {
    const good = [1, 2];
    const x = Float32Array.of(Number.NaN, 1, Number.POSITIVE_INFINITY, 1, -3e38, 3e38, ...good);
    const { scales, values } = quantizeRows(x, 2, range);
    expect([...scales].map(Number.isFinite)).toEqual([false, false, false, true]);
    expect(values.subarray(6)).toEqual(quantizeRows(Float32Array.from(good), 2, range).values);
  });
});

describe("quantizeRowsSymmetric", () => {
  it("has an error of at most half a scale, reaches ±127 and keeps zero and signs", () => {
    fc.assert(
      fc.property(rows, ({ x, width }) => {
        const { values, scales, sums } = quantizeRowsSymmetric(x, width);
        const negated = quantizeRowsSymmetric(
          x.map((value) => -value),
          width,
        );
        expect([...negated.values]).toEqual([...values].map((value) => 0 - value));
        scales.forEach((scale, row) => {
          const own = values.subarray(row * width, (row + 1) * width);
          expect(sums[row]).toBe(own.reduce((total, value) => total + value, 0));
          const given = x.subarray(row * width, (row + 1) * width);
          const peak = Math.max(...given.map(Math.abs));
          if (peak > 2 ** -100) expect(Math.max(...own.map(Math.abs))).toBe(127);
          own.forEach((value, i) => {
            expect(Math.abs((given[i] as number) / scale - value)).toBeLessThanOrEqual(HALF_A_SCALE);
            if (given[i] === 0) expect(value).toBe(0);
          });
        });
      }),
      seeded(300),
    );
  });

  it("returns a finite scale except for rows with NaN or infinity", () => {
    const { scales } = quantizeRowsSymmetric(Float32Array.of(Number.NaN, 1, Number.NEGATIVE_INFINITY, 1, 1, 1), 2);
    expect([...scales].map(Number.isFinite)).toEqual([false, false, true]);
  });
});
