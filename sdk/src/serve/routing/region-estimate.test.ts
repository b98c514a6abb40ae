import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { regionEstimate } from "./region-estimate.ts";

/** Averages of doubles accumulate a few rounding errors. */
const RELATIVE_TOLERANCE = 1e-9;

const ms = fc.double({ min: 0, max: 60_000, noNaN: true });
/** Predicted computation time of a call: 0, or at least a microsecond. */
const computeMs = fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 60_000, noNaN: true }));
const fetches = fc.array(fc.record({ totalMs: ms, computedMs: ms, computeMs }), { maxLength: 50 });

describe("regionEstimate", () => {
  it("starts with the prior overhead and no slowdown", () => {
    const estimate = regionEstimate(50);
    expect(estimate.predict(0)).toBe(50);
    expect(estimate.predict(20)).toBe(70);
  });

  it("takes the overhead from the first fetch, without a deviation", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 14, computedMs: 4, computeMs: 2 });
    expect(estimate.predict(0)).toBe(10);
    expect(estimate.predict(3)).toBe(10 + 2 * 3);
  });

  it("learns the slowdown from the first fetch that computes, even after probes", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 10, computedMs: 0, computeMs: 0 });
    estimate.observe({ totalMs: 11, computedMs: 1, computeMs: 20 });
    expect(estimate.predict(100)).toBe(10 + 0.05 * 100);
  });

  it("follows RFC 6298: a new fetch counts for 1/8 of the mean and 1/4 of the deviation", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 16, computedMs: 0, computeMs: 0 });
    estimate.observe({ totalMs: 32, computedMs: 0, computeMs: 0 });
    expect(estimate.predict(0)).toBe(16 + 16 / 8 + 16 / 4);
    estimate.observe({ totalMs: 18, computedMs: 0, computeMs: 0 });
    expect(estimate.predict(0)).toBe(18 + (4 - 4 / 4));
  });

  it("assumes no overhead when the region reports more time than the fetch took", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 5, computedMs: 9, computeMs: 0 });
    expect(estimate.predict(0)).toBe(0);
  });

  it("converges to the times of a steady region, whatever it observed before", () => {
    fc.assert(
      fc.property(
        ms,
        fetches,
        ms,
        computeMs,
        fc.double({ min: 0.01, max: 10, noNaN: true }),
        (prior, past, overhead, compute, slowdown) => {
          const estimate = regionEstimate(prior);
          for (const fetch of past) estimate.observe(fetch);
          const steady = { totalMs: overhead + slowdown * 10, computedMs: slowdown * 10, computeMs: 10 };
          for (let i = 0; i < 600; i++) estimate.observe(steady);
          const expected = overhead + slowdown * compute;
          expect(Math.abs(estimate.predict(compute) - expected)).toBeLessThanOrEqual(
            RELATIVE_TOLERANCE * Math.max(1, expected, 60_000),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it("predicts more for a region with varying times than for a steady one with the same mean", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 10, max: 1_000, noNaN: true }),
        fc.double({ min: 1, max: 9, noNaN: true }),
        (mean, spread) => {
          const steady = regionEstimate(0);
          const wavering = regionEstimate(0);
          for (let i = 0; i < 40; i++) {
            steady.observe({ totalMs: mean, computedMs: 0, computeMs: 0 });
            wavering.observe({ totalMs: mean + (i % 2 ? spread : -spread), computedMs: 0, computeMs: 0 });
          }
          expect(wavering.predict(0)).toBeGreaterThan(steady.predict(0));
        },
      ),
    );
  });

  it("predicts a finite, non-negative time that never falls with more computation", () => {
    fc.assert(
      fc.property(ms, fetches, computeMs, computeMs, (prior, past, compute, more) => {
        const estimate = regionEstimate(prior);
        for (const fetch of past) estimate.observe(fetch);
        expect(estimate.predict(compute)).toBeGreaterThanOrEqual(0);
        expect(estimate.predict(compute)).toBeLessThan(Number.POSITIVE_INFINITY);
        expect(estimate.predict(compute + more)).toBeGreaterThanOrEqual(estimate.predict(compute));
      }),
    );
  });
});

describe("a region that was measured during its start", () => {
  it("is predicted to be fast again after a few probes", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 20, computedMs: 0, computeMs: 0 });
    estimate.observe({ totalMs: 3_000, computedMs: 0, computeMs: 0 });
    expect(estimate.predict(0)).toBeGreaterThan(300);
    for (let probe = 0; probe < 6; probe++) estimate.observe({ totalMs: 20, computedMs: 0, computeMs: 0 });
    expect(estimate.predict(0)).toBeLessThan(40);
  });

  it("recovers from a slow first computation by probes alone", () => {
    const estimate = regionEstimate(50);
    estimate.observe({ totalMs: 410, computedMs: 400, computeMs: 8 });
    expect(estimate.predict(8)).toBeGreaterThan(400);
    for (let probe = 0; probe < 40; probe++) estimate.observe({ totalMs: 10, computedMs: 0, computeMs: 0 });
    expect(estimate.predict(8)).toBeLessThan(25);
  });
});
