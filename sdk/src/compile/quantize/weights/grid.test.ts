import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { bestGrid, fullGrid, type Grid, type Levels, levelOf } from "./grid.ts";

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

const cost = (weights: Float32Array, grid: Grid, levels: Levels, counts: Float64Array | undefined) =>
  weights.reduce(
    (sum, weight, i) =>
      sum + (weight - grid.step * (levelOf(weight, grid, levels) - grid.zero)) ** 2 * (counts?.[i] ?? 1),
    0,
  );

describe.each<[string, Levels]>([
  ["signed and symmetric", { least: -127, greatest: 127, symmetric: true }],
  ["signed", { least: -128, greatest: 127, symmetric: false }],
  ["of seven bits", { least: 0, greatest: 127, symmetric: false }],
  ["of four bits", { least: 0, greatest: 15, symmetric: false }],
])("a grid of levels %s", (_, levels) => {
  it("is off by half a step at most where it reaches over the whole range, and keeps zero", () => {
    fc.assert(
      fc.property(channel, (weights) => {
        const grid = fullGrid(weights, levels);
        expect(grid.step).toBe(Math.fround(grid.step));
        expect(grid.step > 0 && Number.isFinite(grid.step)).toBe(true);
        expect(levelOf(0, grid, levels)).toBe(grid.zero);
        if (levels.symmetric) expect(grid.zero).toBe(0);
        for (const weight of weights) {
          const error = weight / grid.step - (levelOf(weight, grid, levels) - grid.zero);
          expect(Math.abs(error)).toBeLessThanOrEqual(HALF_A_STEP);
        }
      }),
      seeded(300),
    );
  });

  it("stays within the levels, whatever the weight", () => {
    fc.assert(
      fc.property(channel, fc.double({ noNaN: true }), (weights, any) => {
        for (const grid of [fullGrid(weights, levels), bestGrid(weights, levels)]) {
          const level = levelOf(any, grid, levels);
          expect(level >= levels.least && level <= levels.greatest).toBe(true);
          expect(Number.isInteger(level) && Number.isInteger(grid.zero)).toBe(true);
          expect(grid.zero >= levels.least && grid.zero <= levels.greatest).toBe(true);
        }
      }),
      seeded(300),
    );
  });

  it("is never worse when it may clip, in weighted squares", () => {
    fc.assert(
      fc.property(weighted, ([weights, counts]) => {
        const best = cost(weights, bestGrid(weights, levels, counts), levels, counts);
        expect(best).toBeLessThanOrEqual(cost(weights, fullGrid(weights, levels), levels, counts));
      }),
      seeded(300),
    );
  });
});

describe("bestGrid", () => {
  const levels: Levels = { least: 0, greatest: 15, symmetric: false };
  const weights = Float32Array.from({ length: 64 }, (_, i) => (i === 0 ? 1.4 : Math.sin(i) ** 3));

  it("clips a weight that stands out, unless its input counts", () => {
    const full = fullGrid(weights, levels);
    expect(bestGrid(weights, levels).step).toBeLessThan(full.step);
    const counts = Float64Array.from({ length: 64 }, (_, i) => (i === 0 ? 1000 : 0.001));
    const kept = bestGrid(weights, levels, counts);
    const error = (grid: Grid) => Math.abs(1.4 - grid.step * (levelOf(1.4, grid, levels) - grid.zero));
    expect(error(kept)).toBeLessThan(error(bestGrid(weights, levels)));
  });
});
