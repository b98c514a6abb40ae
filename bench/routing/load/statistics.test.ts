import fc from "fast-check";
import { expect, it } from "vitest";
import { geometricMean, quantile, shareOf } from "./statistics.ts";

const values = fc.array(fc.double({ min: 0.001, max: 1000, noNaN: true }), { minLength: 1 });

it.each([
  [0, 1],
  [0.25, 1],
  [0.26, 2],
  [0.5, 2],
  [0.75, 3],
  [1, 4],
])("takes the %d quantile of 1, 2, 3, 4", (share, expected) => {
  expect(quantile([3, 1, 4, 2], share)).toBe(expected);
});

it("takes a quantile that the given share of the values does not exceed", () => {
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (all, share) => {
      const limit = quantile(all, share);
      expect(all).toContain(limit);
      expect(all.filter((value) => value <= limit).length).toBeGreaterThanOrEqual(share * all.length);
    }),
  );
});

it("weighs ratios and their inverses equally in the geometric mean", () => {
  fc.assert(
    fc.property(values, (all) => {
      expect(geometricMean([...all, ...all.map((value) => 1 / value)])).toBeCloseTo(1, 9);
    }),
  );
  expect(geometricMean([2, 8])).toBeCloseTo(4, 9);
});

it("has no result without values", () => {
  expect([quantile([], 0.5), geometricMean([]), shareOf(0, 0)]).toEqual([Number.NaN, Number.NaN, Number.NaN]);
});
