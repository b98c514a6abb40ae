import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { keptShares, nearestTexts } from "./nearest.ts";

/** Points on the unit circle, by their angles in degrees. */
const circle = (...degrees: number[]) =>
  degrees.map((angle) => Float32Array.of(Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)));

describe("nearestTexts", () => {
  it("finds the others with the smallest angle, nearest first, and never the text itself", () => {
    const found = nearestTexts(circle(0, 10, 30, 70, 180), 2);
    expect(found.map(({ nearest }) => nearest)).toEqual([
      [1, 2],
      [0, 2],
      [1, 0],
      [2, 1],
      [3, 2],
    ]);
    expect(found.flatMap(({ tied }) => tied)).toEqual([]);
  });

  it("compares directions, not lengths", () => {
    const [first, second, third] = circle(0, 20, 30) as [Float32Array, Float32Array, Float32Array];
    const found = nearestTexts([first, second, third.map((value) => 100 * value)], 1);
    expect(found.map(({ nearest }) => nearest)).toEqual([[1], [2], [1]]);
  });

  it("names the texts that are exactly as near as the last one", () => {
    const [a, b] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    const [first, , third] = nearestTexts([a, a, a, a, b], 2);
    expect(first).toEqual({ nearest: [1, 2], tied: [3] });
    expect(third).toEqual({ nearest: [0, 1], tied: [3] });
  });

  it("finds all others if there are fewer", () => {
    expect(nearestTexts(circle(0, 10, 30), 10).map(({ nearest }) => nearest)).toEqual([
      [1, 2],
      [0, 2],
      [1, 0],
    ]);
  });

  it("finds what sorting all cosines finds", () => {
    const vector = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 3, maxLength: 3 });
    const nonZero = vector.filter((numbers) => numbers.some((number) => number !== 0));
    fc.assert(
      fc.property(fc.array(nonZero, { minLength: 2, maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (rows, count) => {
        const cosine = (a: readonly number[], b: readonly number[]) => {
          const dot = (x: readonly number[], y: readonly number[]) =>
            x.reduce((sum, value, i) => sum + value * (y[i] as number), 0);
          return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
        };
        nearestTexts(
          rows.map((row) => Float32Array.from(row)),
          count,
        ).forEach(({ nearest }, text) => {
          const others = rows.flatMap((row, i) => (i === text ? [] : [cosine(rows[text] as number[], row)]));
          const best = others.toSorted((a, b) => b - a).slice(0, count);
          expect(nearest).not.toContain(text);
          expect(new Set(nearest).size).toBe(nearest.length);
          const found = nearest.map((i) => cosine(rows[text] as number[], rows[i] as number[]));
          expect(found).toHaveLength(best.length);
          found.forEach((value, i) => {
            expect(value).toBeCloseTo(best[i] as number, 5);
          });
        });
      }),
      seeded(200),
    );
  });
});

describe("keptShares", () => {
  it("counts the true neighbours that are found, in any order", () => {
    const truth = nearestTexts(circle(0, 10, 30, 70, 180), 2);
    expect(keptShares(truth, truth)).toEqual([1, 1, 1, 1, 1]);
    // 70 moves to 14: it replaces 30 among the neighbours of 0 and of 10, and has two others itself.
    const moved = nearestTexts(circle(0, 10, 30, 14, 180), 2);
    expect(moved.map(({ nearest }) => nearest)).toEqual([
      [1, 3],
      [3, 0],
      [3, 1],
      [1, 0],
      [2, 3],
    ]);
    expect(keptShares(truth, moved)).toEqual([0.5, 0.5, 0.5, 0.5, 1]);
  });

  it("takes any of the texts that are tied with the last true neighbour", () => {
    const truth = [{ nearest: [1, 2], tied: [3, 4] }];
    expect(keptShares(truth, [{ nearest: [4, 1], tied: [] }])).toEqual([1]);
    expect(keptShares(truth, [{ nearest: [4, 3], tied: [] }])).toEqual([1]);
    expect(keptShares(truth, [{ nearest: [5, 3], tied: [1] }])).toEqual([0.5]);
  });
});
