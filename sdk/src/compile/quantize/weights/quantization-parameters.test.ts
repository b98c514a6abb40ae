import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  type IntegerRange,
  minErrorParameters,
  minMaxParameters,
  type QuantizationParameters,
  quantizeNumber,
} from "./quantization-parameters.ts";

/** Half a step, and the rounding of the step to float32, of up to 255 of them. */
const HALF_A_STEP = 0.5 + 255 * 2 ** -23;

const channel = fc
  .array(
    fc.oneof(
      fc.float({ noNaN: true, min: -1, max: 1 }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, 2 ** -149, -(2 ** -130)),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((values) => Float32Array.from(values));
const importance = (width: number) =>
  fc.option(
    fc
      .array(fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.constant(0)), {
        minLength: width,
        maxLength: width,
      })
      .map((values) => Float64Array.from(values)),
    { nil: undefined },
  );
const weighted = channel.chain((weights) => fc.tuple(fc.constant(weights), importance(weights.length)));

const cost = (
  weights: Float32Array,
  grid: QuantizationParameters,
  levels: IntegerRange,
  counts: Float64Array | undefined,
) =>
  weights.reduce(
    (sum, weight, i) =>
      sum + (weight - grid.scale * (quantizeNumber(weight, grid, levels) - grid.zeroPoint)) ** 2 * (counts?.[i] ?? 1),
    0,
  );

describe.each<[string, IntegerRange]>([
  ["signed and symmetric", { min: -127, max: 127, symmetric: true }],
  ["signed", { min: -128, max: 127, symmetric: false }],
  ["of seven bits", { min: 0, max: 127, symmetric: false }],
  ["of four bits", { min: 0, max: 15, symmetric: false }],
])("a grid of levels %s", (_, levels) => {
  it("is off by half a step at most where it reaches over the whole range, and keeps zero", () => {
    fc.assert(
      fc.property(channel, (weights) => {
        const grid = minMaxParameters(weights, levels);
        expect(grid.scale).toBe(Math.fround(grid.scale));
        expect(grid.scale > 0 && Number.isFinite(grid.scale)).toBe(true);
        expect(quantizeNumber(0, grid, levels)).toBe(grid.zeroPoint);
        if (levels.symmetric) expect(grid.zeroPoint).toBe(0);
        for (const weight of weights) {
          const error = weight / grid.scale - (quantizeNumber(weight, grid, levels) - grid.zeroPoint);
          expect(Math.abs(error)).toBeLessThanOrEqual(HALF_A_STEP);
        }
      }),
      seeded(300),
    );
  });

  it("stays within the levels, whatever the weight", () => {
    fc.assert(
      fc.property(channel, fc.double({ noNaN: true }), (weights, any) => {
        for (const grid of [minMaxParameters(weights, levels), minErrorParameters(weights, levels)]) {
          const level = quantizeNumber(any, grid, levels);
          expect(level >= levels.min && level <= levels.max).toBe(true);
          expect(Number.isInteger(level) && Number.isInteger(grid.zeroPoint)).toBe(true);
          expect(grid.zeroPoint >= levels.min && grid.zeroPoint <= levels.max).toBe(true);
        }
      }),
      seeded(300),
    );
  });

  it("is never worse when it may clip, in weighted squares", () => {
    fc.assert(
      fc.property(weighted, ([weights, counts]) => {
        const best = cost(weights, minErrorParameters(weights, levels, counts), levels, counts);
        expect(best).toBeLessThanOrEqual(cost(weights, minMaxParameters(weights, levels), levels, counts));
      }),
      seeded(300),
    );
  });
});

describe("bestGrid", () => {
  const levels: IntegerRange = { min: 0, max: 15, symmetric: false };
  const weights = Float32Array.from({ length: 64 }, (_, i) => (i === 0 ? 1.4 : Math.sin(i) ** 3));

  it("clips a weight that stands out, unless its input counts", () => {
    const full = minMaxParameters(weights, levels);
    expect(minErrorParameters(weights, levels).scale).toBeLessThan(full.scale);
    const counts = Float64Array.from({ length: 64 }, (_, i) => (i === 0 ? 1000 : 0.001));
    const kept = minErrorParameters(weights, levels, counts);
    const error = (grid: QuantizationParameters) =>
      Math.abs(1.4 - grid.scale * (quantizeNumber(1.4, grid, levels) - grid.zeroPoint));
    expect(error(kept)).toBeLessThan(error(minErrorParameters(weights, levels)));
  });
});
