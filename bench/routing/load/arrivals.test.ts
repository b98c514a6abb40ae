import { expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { poissonArrivals } from "./arrivals.ts";

const arrivals = poissonArrivals(200, 100_000, randomNumbers(1));
const gaps = arrivals.map((at, i) => at - (arrivals[i - 1] ?? 0));

it("has the given rate, in order", () => {
  expect(arrivals.length / 100).toBeCloseTo(200, -1);
  expect(Math.min(...gaps)).toBeGreaterThan(0);
  expect(arrivals.at(-1)).toBeLessThan(100_000);
});

it("has gaps of an exponential distribution, whose mean equals its standard deviation", () => {
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length;
  expect(Math.sqrt(variance) / mean).toBeCloseTo(1, 1);
  expect(gaps.filter((gap) => gap > mean).length / gaps.length).toBeCloseTo(Math.exp(-1), 1);
});
