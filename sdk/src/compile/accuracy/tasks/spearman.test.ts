import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { spearman } from "./spearman.ts";

const few = fc.integer({ min: -3, max: 3 });
const pairs = fc.array(fc.tuple(few, few), { minLength: 2, maxLength: 12 });
const columns = (rows: readonly (readonly [number, number])[]) =>
  [rows.map(([a]) => a), rows.map(([, b]) => b)] as const;

describe("spearman", () => {
  it.each([
    [[106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17], -0.17575757575757575],
    [[1, 2, 2, 3, 5, 5, 5, 0], [2, 1, 4, 4, 3, 9, 7, 7], 0.31682519336239684],
  ])("returns the value of scipy.stats.spearmanr for %j", (a, b, expected) => {
    expect(spearman(a, b)).toBeCloseTo(expected, 14);
  });

  it("equals the correlation of ranks that are counted directly", () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const [a, b] = columns(rows);
        const rank = (values: readonly number[]) =>
          values.map((x) => values.filter((y) => y < x).length + values.filter((y) => y === x).length / 2);
        const [p, q] = [rank(a), rank(b)];
        const n = rows.length;
        const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
        const product = (x: readonly number[], y: readonly number[]) =>
          n * sum(x.map((value, i) => value * (y[i] as number))) - sum(x) * sum(y);
        const expected = product(p, q) / Math.sqrt(product(p, p) * product(q, q));
        if (Number.isNaN(expected)) expect(spearman(a, b)).toBeNaN();
        else expect(spearman(a, b)).toBeCloseTo(expected, 12);
      }),
      seeded(500),
    );
  });

  it("depends only on the order: a rising function keeps the value, a falling one changes its sign", () => {
    fc.assert(
      fc.property(pairs, (rows) => {
        const [a, b] = columns(rows);
        const before = spearman(a, b);
        fc.pre(!Number.isNaN(before));
        expect(spearman(a.map(Math.exp), b)).toEqual(before);
        expect(spearman(b, a)).toEqual(before);
        expect(
          spearman(
            a,
            b.map((value) => 7 - value),
          ),
        ).toBeCloseTo(-before, 12);
      }),
      seeded(200),
    );
  });

  it("orders infinite values", () => {
    expect(spearman([-Infinity, 0, Infinity, Infinity], [1, 2, 3, 3])).toBeCloseTo(1, 12);
  });

  it.each([
    ["all values are equal", [1, 1, 1], [1, 2, 3]],
    ["one is NaN", [1, 2, 3], [1, Number.NaN, 3]],
    ["there are none", [], []],
  ])("returns NaN when %s", (_, a, b) => {
    expect(spearman(a, b)).toBeNaN();
  });

  it("refuses lists of different lengths", () => {
    expect(() => spearman([1, 2], [1])).toThrow(RangeError);
  });
});
