import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { theilSenSlope } from "./speed.ts";

describe("theilSenSlope", () => {
  it("finds the slope of points on a line, whatever its distance from zero", () => {
    const factor = fc.double({ min: 0.1, max: 10, noNaN: true });
    fc.assert(
      fc.property(factor, fc.integer({ min: 0, max: 1_000 }), (slope, offset) => {
        const points = [10, 30, 70, 20, 110].map((x) => [x, offset + slope * x] as const);
        expect(theilSenSlope(points, 0.2)).toBeCloseTo(slope, 6);
      }),
    );
  });

  it("is not moved by a few wrong points, however wrong they are", () => {
    const right = Array.from({ length: 30 }, (_, i) => [10 + i * 10, 5 + 2 * (10 + i * 10)] as const);
    const wrong = [
      [59_999, 0],
      [1, 59_999],
      [30_000, 1],
    ] as const;
    expect(theilSenSlope([...right, ...wrong], 0.2)).toBeCloseTo(2, 1);
  });

  it("is unknown for no points, one point, and points with almost the same x", () => {
    expect(theilSenSlope([], 0.2)).toBeUndefined();
    expect(theilSenSlope([[1, 1]], 0.2)).toBeUndefined();
    const close = [
      [100, 1],
      [101, 50],
    ] as const;
    expect(theilSenSlope(close, 0.2)).toBeUndefined();
  });
});
