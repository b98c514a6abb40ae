import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { binOf, emptyHistogram, type Histogram, minErrorRange, percentileRange } from "./histogram.ts";

/** A bin of a normal number is this much wider at its upper edge than at its lower one, at most. */
const BIN = 1 + 2 ** -7;

function histogramOf(numbers: Float32Array): Histogram {
  const histogram = emptyHistogram();
  for (const bits of new Uint32Array(numbers.buffer)) histogram[binOf(bits)] = (histogram[binOf(bits)] as number) + 1;
  return histogram;
}

/** Rounds to int8 with the step of a range. */
function squaredError(numbers: Float32Array, limit: number): number {
  const step = limit / 127;
  return numbers.reduce((sum, x) => sum + (x - step * Math.max(-127, Math.min(127, Math.round(x / step)))) ** 2, 0);
}

const normal = fc.float({ min: -1e6, max: 1e6, noNaN: true }).filter((x) => x === 0 || Math.abs(x) > 1e-30);
const some = fc.array(normal, { minLength: 1, maxLength: 200 }).map((all) => Float32Array.from(all));

describe("percentileRange", () => {
  it("has the share that is asked for inside, and is wider than need be by one bin at most", () => {
    fc.assert(
      fc.property(some, fc.constantFrom(50, 90, 99, 99.99, 100), (numbers, percentile) => {
        const { min: least, max: greatest } = percentileRange(histogramOf(numbers), percentile);
        const sorted = numbers.map(Math.abs).sort();
        const exact = sorted[Math.ceil((sorted.length * percentile) / 100) - 1] as number;
        expect(least).toBe(-greatest);
        expect(greatest).toBeGreaterThanOrEqual(exact);
        expect(greatest).toBeLessThanOrEqual(exact * BIN);
      }),
      seeded(300),
    );
  });

  it.each([0, -1, 100.1, Number.NaN])("refuses %d", (percentile) => {
    expect(refusal(() => percentileRange(histogramOf(Float32Array.of(1)), percentile))).toBe("calibration_invalid");
  });

  it("refuses a histogram of nothing", () => {
    expect(refusal(() => percentileRange(emptyHistogram(), 99))).toBe("calibration_invalid");
  });
});

describe("leastErrorRange", () => {
  const random = randomNumbers(3);
  // A sum of twelve uniform numbers is nearly normal.
  const bell = () => Array.from({ length: 12 }, random).reduce((sum, x) => sum + x, -6);

  it.each<[string, Float32Array]>([
    ["numbers all of one size", Float32Array.from({ length: 5000 }, () => 2 * random() - 1)],
    ["a bell", Float32Array.from({ length: 5000 }, bell)],
    [
      "a few numbers among very small ones",
      Float32Array.from({ length: 200_000 }, (_, i) => (i < 5 ? random() : 1e-4)),
    ],
    ["a bell and a few outliers", Float32Array.from({ length: 5000 }, (_, i) => (i < 3 ? 40 : bell()))],
  ])("rounds %s with hardly more error than the best of many ranges", (_, numbers) => {
    const { min: least, max: greatest } = minErrorRange(histogramOf(numbers));
    expect(least).toBe(-greatest);
    const peak = numbers.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
    const best = Math.min(...Array.from({ length: 400 }, (_, i) => squaredError(numbers, (peak * (i + 1)) / 400)));
    // Bins and the mean error of a step stand for the numbers themselves: 3 % are measured at worst.
    expect(squaredError(numbers, greatest)).toBeLessThan(1.05 * best);
  });

  it("is 0 for zeros", () => {
    expect(minErrorRange(histogramOf(new Float32Array(3))).max).toBe(0);
  });
});
