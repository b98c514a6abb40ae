import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "../../fixtures/seeded.ts";
import { fround, nearest, polynomial, sumInLanes } from "./float32.ts";

/** Maximum relative rounding error of one float32 operation: half of the last bit. */
const ROUNDING = 2 ** -24;
/** Maximum rounding error of denormal numbers. */
const LEAST = 2 ** -150;

describe("nearest", () => {
  it("returns the nearest integer, ties to even, below 2²²", () => {
    const toEven = (x: number) => {
      const below = Math.floor(x);
      if (x - below !== 0.5) return Math.round(x);
      return below % 2 === 0 ? below : below + 1;
    };
    const number = fc.oneof(
      fc.float({ min: -(2 ** 22) + 1, max: 2 ** 22 - 1, noNaN: true }),
      fc.float({ min: -300, max: 300, noNaN: true }),
      fc.integer({ min: -(2 ** 21), max: 2 ** 21 }).map((n) => n + 0.5),
    );
    fc.assert(
      fc.property(number, (x) => {
        // `+ 0` turns −0 into 0.
        expect(nearest(x)).toBe(toEven(x) + 0);
      }),
      seeded(2000),
    );
  });

  it("keeps NaN and infinity", () => {
    expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(nearest)).toEqual([
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ]);
  });
});

describe("polynomial", () => {
  it("has an error of at most two roundings per power", () => {
    const small = fc.float({ min: -1, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(small, { maxLength: 8 }), small, (coefficients, x) => {
        const wanted = coefficients.reduce((total, c, i) => total + c * x ** i, 0);
        const size = coefficients.reduce((total, c, i) => total + Math.abs(c * x ** i), 0);
        const bound = 2 * coefficients.length * (ROUNDING * size * 1.001 + LEAST);
        expect(Math.abs(polynomial(coefficients, x) - wanted)).toBeLessThanOrEqual(bound);
      }),
      seeded(500),
    );
  });
});

describe("sumInLanes", () => {
  /**
   * Adds in sixteen lanes. Then adds the second half of the lanes to the first half, again and again, until one lane is
   * left.
   */
  const inLanes = (terms: readonly number[]) => {
    const add = (a: number, b: number) => fround(a + b);
    const halved = (lanes: readonly number[]): number => {
      if (lanes.length === 1) return lanes[0] as number;
      const half = lanes.length / 2;
      return halved(lanes.slice(0, half).map((lane, i) => add(lane, lanes[half + i] as number)));
    };
    return halved(Array.from({ length: 16 }, (_, lane) => terms.filter((_, i) => i % 16 === lane).reduce(add, 0)));
  };
  const terms = fc.array(fc.float({ noNaN: true, min: fround(-1e6), max: fround(1e6) }), { maxLength: 70 });

  it("adds in the order of four vectors of four lanes, to the last bit", () => {
    fc.assert(
      fc.property(terms, (all) => {
        expect(sumInLanes(all.length, (i) => all[i] as number)).toBe(inLanes(all));
      }),
      seeded(500),
    );
  });

  it("rounds each term first", () => {
    const third = 1 / 3;
    expect(sumInLanes(1, () => third)).toBe(fround(third));
    expect(sumInLanes(3, () => third)).toBe(fround(fround(fround(third) + fround(third)) + fround(third)));
  });

  it("is 0 without terms, and NaN when a term is NaN", () => {
    expect(sumInLanes(0, () => 1)).toBe(0);
    expect(sumInLanes(20, (i) => (i === 17 ? Number.NaN : 1))).toBeNaN();
  });
});
