import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MeasuredFetch, regionEstimate } from "./region-estimate.ts";

/** Averages of doubles accumulate a few rounding errors. */
const RELATIVE_TOLERANCE = 1e-9;

const ms = fc.double({ min: 0, max: 60_000, noNaN: true });
/** Predicted computation time of a call: 0, or at least a microsecond. */
const computeMs = fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 60_000, noNaN: true }));
const fetches = fc.array(
  fc.record({ tookMs: ms, totalMs: ms, computedMs: ms, computeMs, waitMs: fc.constant(0), busyMs: ms }),
  { maxLength: 50 },
);

/** Makes an estimate with a clock, and a function that observes a fetch which ends now. */
function setUp(priorMs = 50) {
  const clock = { now: 0 };
  const estimate = regionEstimate({ priorMs, now: () => clock.now });
  function observe({ tookMs, ...fetch }: Partial<MeasuredFetch> & { tookMs: number }) {
    clock.now += tookMs;
    const nothing = { totalMs: 0, computedMs: 0, computeMs: 0, waitMs: 0, busyMs: 0 };
    estimate.observe({ ...nothing, start: clock.now - tookMs, end: clock.now, ...fetch });
  }
  return { clock, estimate, observe };
}

describe("regionEstimate", () => {
  it("lets later requests wait for the computation of earlier ones, until their answer reports the queue", () => {
    const { estimate, observe } = setUp(50);
    const answered = estimate.sent(30, false);
    expect(estimate.predict(5).ms).toBe(50 + 30 + 5);
    answered();
    observe({ tookMs: 50, waitMs: 12 });
    expect(estimate.predict(5).ms).toBe(50 + 12 + 5);
  });

  it("counts as much of a request that takes turns as of the new one, and a call", () => {
    const { estimate } = setUp(50);
    const answered = [estimate.sent(4_000, true), estimate.sent(4_000, true), estimate.sent(2, true)];
    expect(estimate.predict(1).waitMs).toBe(2 * (1 + 8) + 2);
    expect(estimate.predict(100).waitMs).toBe(2 * (100 + 8) + 2);
    const due = estimate.sent(30, false);
    expect(estimate.predict(1).waitMs).toBe(20 + 30);
    for (const end of [...answered, due]) end();
    expect(estimate.predict(1).waitMs).toBe(0);
  });

  it("starts with the prior network time and no slowdown, of which it is not certain", () => {
    const { estimate } = setUp(50);
    expect(estimate.predict(0)).toEqual({ ms: 50, spreadMs: 0, waitMs: 0 });
    expect(estimate.predict(20)).toEqual({ ms: 70, spreadMs: 5, waitMs: 0 });
    expect(estimate.networkMs()).toBe(50);
  });

  it("takes the network time from the first fetch: what the region did not report as its own", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 20, totalMs: 10, computedMs: 4, computeMs: 2 });
    expect(estimate.networkMs()).toBe(10);
    expect(estimate.predict(0)).toEqual({ ms: 10, spreadMs: 0, waitMs: 0 });
  });

  it("does not take the first computation for the slowdown, because the region may have loaded something", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 410, totalMs: 400, computedMs: 400, computeMs: 8 });
    expect(estimate.predict(8).ms).toBe(10 + 8);
    observe({ tookMs: 410, totalMs: 400, computedMs: 400, computeMs: 8 });
    expect(estimate.predict(8).ms).toBe(10 + 400);
  });

  it("learns from the first computation that the region is fast, even after probes", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 10 });
    observe({ tookMs: 11, totalMs: 1, computedMs: 1, computeMs: 20 });
    expect(estimate.predict(100).ms).toBeCloseTo(10 + 0.05 * 100, 9);
  });

  it("gives the mean deviation of the network and of the computation", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 26, totalMs: 10, computedMs: 10, computeMs: 10 });
    observe({ tookMs: 52, totalMs: 20, computedMs: 20, computeMs: 10 });
    // The deviation of the slowdown begins with 1/4. The second measurement deviates by 1 from the first one.
    expect(estimate.predict(8)).toEqual({ ms: 18 + 1.125 * 8, spreadMs: 4 + (0.25 + 0.75 / 4) * 8, waitMs: 0 });
  });

  it("assumes no network time when the region reports more time than the fetch took", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 5, totalMs: 9 });
    expect(estimate.predict(0).ms).toBe(0);
  });

  it("counts the reported wait down with time", () => {
    const { estimate, observe, clock } = setUp();
    observe({ tookMs: 10, waitMs: 300 });
    expect(estimate.predict(0).ms).toBe(310);
    clock.now += 200;
    expect(estimate.predict(0).ms).toBe(110);
    clock.now += 200;
    expect(estimate.predict(0).ms).toBe(10);
  });

  it("replaces the wait by a newer report, and believes no wait of more than a minute", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 10, waitMs: 300 });
    observe({ tookMs: 10, waitMs: 20 });
    expect(estimate.predict(0).ms).toBe(30);
    estimate.refused(1_000, 100);
    expect(estimate.predict(0).ms).toBe(110);
    observe({ tookMs: 10, waitMs: Number.MAX_VALUE });
    expect(estimate.predict(0).ms).toBe(60_010);
  });

  it("lowers the network time when a refusal comes sooner", () => {
    const { estimate } = setUp(50);
    estimate.refused(70, 0);
    expect(estimate.networkMs()).toBe(50);
    estimate.refused(20, 0);
    expect(estimate.networkMs()).toBe(20);
  });

  it("tells the wait apart, so that a busy region differs from a slow one", () => {
    const { estimate, observe } = setUp(50);
    observe({ tookMs: 10, waitMs: 300 });
    expect(estimate.predict(7)).toMatchObject({ ms: 317, waitMs: 300 });
  });

  it("never raises the network time above the truth because the edge was busy", () => {
    fc.assert(
      fc.property(ms, fc.array(fc.record({ busyMs: ms, totalMs: ms })), (truth, busy) => {
        const { estimate, observe } = setUp(0);
        for (const { busyMs, totalMs } of busy) observe({ tookMs: truth + totalMs + busyMs, totalMs, busyMs });
        expect(estimate.networkMs()).toBeLessThanOrEqual(truth * (1 + RELATIVE_TOLERANCE) + RELATIVE_TOLERANCE);
      }),
    );
  });

  it("keeps the estimate of a region that answers in 5 ms while the edge is busy for seconds", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 5 });
    for (let answer = 0; answer < 100; answer++) observe({ tookMs: 3_005, busyMs: 3_000 });
    expect(estimate.predict(0)).toEqual({ ms: 5, spreadMs: 0, waitMs: 0 });
  });

  it("keeps the network time within the measured times and the prior", () => {
    fc.assert(
      fc.property(ms, fetches, (prior, past) => {
        const { estimate, observe } = setUp(prior);
        for (const fetch of past) observe(fetch);
        const most = Math.max(prior, ...past.map(({ tookMs }) => tookMs));
        expect(estimate.networkMs()).toBeGreaterThanOrEqual(0);
        expect(estimate.networkMs()).toBeLessThanOrEqual(most * (1 + RELATIVE_TOLERANCE));
      }),
    );
  });

  it("converges to the times of a steady region, whatever it observed before", () => {
    fc.assert(
      fc.property(
        ms,
        fetches,
        // A measurement of more than 10 s ago is not certain.
        fc.double({ min: 0, max: 9_000, noNaN: true }),
        computeMs,
        fc.double({ min: 0.01, max: 10, noNaN: true }),
        (prior, past, network, compute, slowdown) => {
          const { estimate, observe } = setUp(prior);
          for (const fetch of past) observe(fetch);
          const computedMs = slowdown * 10;
          for (let i = 0; i < 600; i++) {
            observe({ tookMs: network + computedMs, totalMs: computedMs, computedMs, computeMs: 10 });
          }
          const expected = network + slowdown * compute;
          const tolerance = RELATIVE_TOLERANCE * Math.max(1, expected, 60_000) * 100;
          expect(Math.abs(estimate.predict(compute).ms - expected)).toBeLessThanOrEqual(tolerance);
          expect(estimate.predict(compute).spreadMs).toBeLessThanOrEqual(tolerance);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("gives a larger spread to a region with varying times than to a steady one with the same mean", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 10, max: 1_000, noNaN: true }),
        fc.double({ min: 1, max: 9, noNaN: true }),
        (mean, spread) => {
          const steady = setUp(0);
          const wavering = setUp(0);
          for (let i = 0; i < 40; i++) {
            steady.observe({ tookMs: mean });
            wavering.observe({ tookMs: mean + (i % 2 ? spread : -spread) });
          }
          expect(wavering.estimate.predict(0).spreadMs).toBeGreaterThan(steady.estimate.predict(0).spreadMs);
        },
      ),
    );
  });

  it("predicts a finite, non-negative time that never falls with more computation", () => {
    fc.assert(
      fc.property(ms, fetches, computeMs, computeMs, (prior, past, compute, more) => {
        const { estimate, observe } = setUp(prior);
        for (const fetch of past) observe(fetch);
        const { ms: predicted, spreadMs } = estimate.predict(compute);
        for (const time of [predicted, spreadMs]) {
          expect(time).toBeGreaterThanOrEqual(0);
          expect(time).toBeLessThan(Number.POSITIVE_INFINITY);
        }
        expect(estimate.predict(compute + more).ms).toBeGreaterThanOrEqual(predicted);
      }),
    );
  });
});

describe("a region that was measured during its start", () => {
  it("is predicted to be fast again after a few probes", () => {
    const { estimate, observe } = setUp();
    observe({ tookMs: 20 });
    observe({ tookMs: 3_000 });
    expect(estimate.predict(0).ms).toBeGreaterThan(300);
    for (let probe = 0; probe < 6; probe++) observe({ tookMs: 20 });
    const { ms: predicted, spreadMs } = estimate.predict(0);
    expect(predicted + spreadMs).toBeLessThan(40);
  });

  it("recovers from slow computations with time, although probes compute nothing", () => {
    const { estimate, observe, clock } = setUp();
    for (let i = 0; i < 5; i++) observe({ tookMs: 410, totalMs: 400, computedMs: 400, computeMs: 8 });
    expect(estimate.predict(8).ms).toBeGreaterThan(400);
    for (let probe = 0; probe < 10; probe++) {
      clock.now += 30_000;
      observe({ tookMs: 10 });
    }
    expect(estimate.predict(8).ms).toBeLessThan(25);
  });

  it("does not take the time to connect for the network time", () => {
    const { estimate, observe, clock } = setUp();
    observe({ tookMs: 88 });
    observe({ tookMs: 8 });
    expect(estimate.networkMs()).toBe(8);
    // The region closes a connection that is not used.
    clock.now += 30_000;
    expect(estimate.predict(0).ms).toBe(8 + 38);
    for (let probe = 0; probe < 12; probe++) {
      clock.now += 30_000;
      observe({ tookMs: 88 });
    }
    expect(estimate.predict(0).ms).toBe(8);
    clock.now += 30_000;
    expect(estimate.predict(0).ms).toBeGreaterThan(70);
    expect(estimate.predict(0).ms).toBeLessThan(89);
  });
});

describe("a region that reports no times", () => {
  const unreported = { start: 0, end: 50, computeMs: 10, busyMs: 0 };

  it("has the network time of probes, and the rest counts as computation", () => {
    const estimate = regionEstimate({ priorMs: 50, now: () => 1_000 });
    estimate.observe({ start: 0, end: 20, computeMs: 0, busyMs: 0 });
    expect(estimate.networkMs()).toBe(20);
    for (let answer = 0; answer < 2; answer++) estimate.observe(unreported);
    expect(estimate.networkMs()).toBe(20);
    // 30 ms of computation instead of 10.
    expect(estimate.predict(10).ms).toBe(50);
    expect(estimate.predict(20).ms).toBe(80);
  });

  it("has a network that is not slower than a whole answer", () => {
    const estimate = regionEstimate({ priorMs: 500, now: () => 1_000 });
    estimate.observe(unreported);
    expect(estimate.networkMs()).toBe(50);
  });

  it("is not taken for slow while the edge is busy", () => {
    const estimate = regionEstimate({ priorMs: 50, now: () => 1_000 });
    estimate.observe({ start: 0, end: 20, computeMs: 0, busyMs: 0 });
    estimate.observe({ ...unreported, busyMs: 25 });
    // The computation took between 5 and 30 ms, and 10 ms were predicted.
    expect(estimate.predict(10).ms).toBe(30);
  });
});
