import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { bestPoints, nearestPoint } from "./four-bit-points.ts";

/** Rounding errors in float64: of sums, as a factor, and of numbers around 100. */
const ROUNDING = 1 + 1e-12;
const FLOAT64_ROUNDING = 2 ** -40;

const numbers = (min: number, max: number) =>
  fc.constantFrom(16, 32).chain((length) =>
    fc.tuple(fc.double({ min, max, noNaN: true }), fc.double({ min, max, noNaN: true })).chain(([a, b]) =>
      fc
        .array(fc.double({ min: Math.min(a, b), max: Math.max(a, b), noNaN: true }), {
          minLength: length,
          maxLength: length,
        })
        .map((all) => Float64Array.from(all)),
    ),
  );
const importanceOf = (length: number) =>
  fc
    .array(fc.oneof(fc.constant(1), fc.constant(0), fc.double({ min: 0, max: 100, noNaN: true })), {
      minLength: length,
      maxLength: length,
    })
    .map((all) => Float64Array.from(all));
/** Numbers of a channel, some of which may be clipped, and their importance. */
const group = numbers(-20, 150).chain((given) => fc.tuple(fc.constant(given), importanceOf(given.length)));

/** Numbers that are close together, and one of little importance on each side. */
const withOutliers = fc
  .record({ half: fc.integer({ min: 40, max: 60 }), share: fc.double({ min: 0.55, max: 0.75, noNaN: true }) })
  .chain(({ half, share }) => {
    const near = fc.double({ min: 63 - share * half, max: 63 + share * half, noNaN: true });
    return fc
      .array(near, { minLength: 30, maxLength: 30 })
      .map((all): [Float64Array, Float64Array] => [
        Float64Array.of(...all, 63 - half, 63 + half),
        new Float64Array(32).fill(1).fill(1e-3, 30),
      ]);
  });

const allCodes = Array.from({ length: 16 }, (_, code) => code);

/** Σ importance · (number − nearest of the 16 points)² */
const errorOf = (given: Float64Array, importance: Float64Array, base: number, multiplier: number) =>
  given.reduce((sum, number, i) => {
    const distance = Math.min(...allCodes.map((code) => Math.abs(number - base - multiplier * code)));
    return sum + (importance[i] as number) * distance * distance;
  }, 0);

describe("nearestPoint", () => {
  it("returns the point with the smallest distance", () => {
    const point = fc.record({
      number: fc.double({ min: -50, max: 200, noNaN: true }),
      base: fc.nat(127),
      multiplier: fc.integer({ min: 1, max: 8 }),
    });
    fc.assert(
      fc.property(point, ({ number, base, multiplier }) => {
        const found = nearestPoint(number, base, multiplier);
        expect(allCodes.map((code) => base + multiplier * code)).toContain(found);
        const distances = allCodes.map((code) => Math.abs(number - base - multiplier * code));
        expect(Math.abs(found - number)).toBeLessThanOrEqual(Math.min(...distances) + FLOAT64_ROUNDING);
      }),
      seeded(500),
    );
  });
});

describe("bestPoints", () => {
  it("returns integers whose points are in 0 to 127", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          group,
          numbers(-1e6, 1e6).map((all) => [all, all.map(() => 1)] as const),
        ),
        ([all, importance]) => {
          const [base, multiplier] = bestPoints(all, importance as Float64Array);
          expect([base, multiplier].every(Number.isInteger)).toBe(true);
          expect(base).toBeGreaterThanOrEqual(0);
          expect(multiplier).toBeGreaterThanOrEqual(1);
          expect(base + 15 * multiplier).toBeLessThanOrEqual(127);
        },
      ),
      seeded(500),
    );
  });

  it("has the smallest error of all points with multipliers from 0.6 to 1.1 times the range, near its middle", () => {
    fc.assert(
      fc.property(fc.oneof(group, withOutliers), ([all, importance]) => {
        const [low, high] = [Math.min(...all), Math.max(...all)];
        const reaching = (high - low) / 15;
        let least = Number.POSITIVE_INFINITY;
        for (let multiplier = 1; multiplier <= 8; multiplier++) {
          const isNear = multiplier >= 0.6 * reaching && multiplier <= 1.1 * reaching;
          // The smallest and the largest multiplier are always tried.
          const isLimit = (multiplier === 1 && reaching < 1) || (multiplier === 8 && reaching * 0.6 > 8);
          if (!isNear && !isLimit) continue;
          for (let base = 0; base + 15 * multiplier <= 127; base++) {
            const middle = base + 7.5 * multiplier;
            if (Math.abs(middle - (low + high) / 2) <= 1.5 * multiplier)
              least = Math.min(least, errorOf(all, importance, base, multiplier));
          }
        }
        const [base, multiplier] = bestPoints(all, importance);
        expect(errorOf(all, importance, base, multiplier)).toBeLessThanOrEqual(least * ROUNDING);
      }),
      seeded(300),
    );
  });

  it("is exact for numbers that are points from the first to the last", () => {
    const exact = fc.integer({ min: 1, max: 8 }).chain((multiplier) =>
      fc.record({
        multiplier: fc.constant(multiplier),
        base: fc.integer({ min: 0, max: 127 - 15 * multiplier }),
        codes: fc.array(fc.nat(15), { minLength: 14, maxLength: 30 }).map((all) => [0, ...all, 15]),
      }),
    );
    fc.assert(
      fc.property(exact, ({ multiplier, base, codes }) => {
        const all = Float64Array.from(codes, (code) => base + multiplier * code);
        const found = bestPoints(all, all.map(() => 1) as Float64Array<ArrayBuffer>);
        expect(Array.from(all, (number) => nearestPoint(number, ...found))).toEqual([...all]);
      }),
      seeded(300),
    );
  });

  it("is exact for integers that are at most 15 apart, and for equal numbers", () => {
    const near = fc
      .record({ low: fc.integer({ min: 0, max: 112 }), steps: fc.array(fc.nat(15), { minLength: 16, maxLength: 16 }) })
      .map(({ low, steps }) => Float64Array.from(steps, (step) => low + step));
    const equal = fc.nat(127).map((number) => new Float64Array(16).fill(number));
    fc.assert(
      fc.property(fc.oneof(near, equal), (all) => {
        const found = bestPoints(all, new Float64Array(16).fill(1));
        expect(Array.from(all, (number) => nearestPoint(number, ...found))).toEqual([...all]);
      }),
      seeded(300),
    );
  });

  it("prefers the numbers that are important", () => {
    const all = Float64Array.from({ length: 16 }, (_, i) => (i === 0 ? 0 : 100 + i / 2));
    const [spread, important] = [all.map(() => 1), all.map((_, i) => (i === 0 ? 0 : 1))];
    const errors = [spread, important].map((importance) => {
      const [base, multiplier] = bestPoints(all, importance);
      return errorOf(all, important, base, multiplier);
    });
    expect(errors[1]).toBeLessThan(errors[0] as number);
  });
});
