import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { binOf, emptyHistogram, type Histogram, minErrorRange, percentileRange } from "./histogram.ts";

/** Maximum ratio of the upper to the lower edge of a bin. */
const BIN = 1 + 2 ** -7;

function histogramOf(numbers: Float32Array): Histogram {
  const histogram = emptyHistogram();
  for (const bits of new Uint32Array(numbers.buffer)) histogram[binOf(bits)] = (histogram[binOf(bits)] as number) + 1;
  return histogram;
}

/** Returns the sum of squared errors of rounding to int8 with the range −limit…limit. */
function squaredError(numbers: Float32Array, limit: number): number {
  const scale = limit / 127;
  return numbers.reduce((sum, x) => sum + (x - scale * Math.max(-127, Math.min(127, Math.round(x / scale)))) ** 2, 0);
}

const normal = fc.float({ min: -1e6, max: 1e6, noNaN: true }).filter((x) => x === 0 || Math.abs(x) > 1e-30);
const some = fc.array(normal, { minLength: 1, maxLength: 200 }).map((all) => Float32Array.from(all));

describe("percentileRange", () => {
  it("contains the requested percentage, and is too wide by at most one bin", () => {
    fc.assert(
      fc.property(some, fc.constantFrom(50, 90, 99, 99.99, 100), (numbers, percentile) => {
        const { min, max } = percentileRange(histogramOf(numbers), percentile);
        const sorted = numbers.map(Math.abs).sort();
        const exact = sorted[Math.ceil((sorted.length * percentile) / 100) - 1] as number;
        expect(min).toBe(-max);
        expect(max).toBeGreaterThanOrEqual(exact);
        expect(max).toBeLessThanOrEqual(exact * BIN);
      }),
      seeded(300),
    );
  });

  it.each([0, -1, 100.1, Number.NaN])("refuses %d", (percentile) => {
    expect(refusal(() => percentileRange(histogramOf(Float32Array.of(1)), percentile))).toBe("calibration_invalid");
  });

  it("refuses an empty histogram", () => {
    expect(refusal(() => percentileRange(emptyHistogram(), 99))).toBe("calibration_invalid");
  });
});

describe("minErrorRange", () => {
  const random = randomNumbers(3);
  // The sum of twelve uniform numbers is nearly normally distributed.
  const bell = () => Array.from({ length: 12 }, random).reduce((sum, x) => sum + x, -6);

  it.each<[string, Float32Array]>([
    ["uniform numbers", Float32Array.from({ length: 5000 }, () => 2 * random() - 1)],
    ["normal numbers", Float32Array.from({ length: 5000 }, bell)],
    [
      "a few large numbers among very small ones",
      Float32Array.from({ length: runs(40_000, 200_000) }, (_, i) => (i < 5 ? random() : 1e-4)),
    ],
    ["normal numbers and a few outliers", Float32Array.from({ length: 5000 }, (_, i) => (i < 3 ? 40 : bell()))],
  ])("has nearly the smallest error of 400 ranges, for %s", (_, numbers) => {
    const { min, max } = minErrorRange(histogramOf(numbers));
    expect(min).toBe(-max);
    const peak = numbers.reduce((max, x) => Math.max(max, Math.abs(x)), 0);
    const best = Math.min(...Array.from({ length: 400 }, (_, i) => squaredError(numbers, (peak * (i + 1)) / 400)));
    // `minErrorRange` only estimates errors, from bins. Measured: its range has an error at most 3 % above the minimum.
    expect(squaredError(numbers, max)).toBeLessThan(1.05 * best);
  });

  it("is 0 for zeros", () => {
    expect(minErrorRange(histogramOf(new Float32Array(3))).max).toBe(0);
  });
});
