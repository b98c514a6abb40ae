import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Interval, smoothed } from "./smoothed.ts";

const exactly = (value: number): Interval => ({ from: value, to: value });
const value = fc.double({ min: 0, max: 1e6, noNaN: true });
const interval = fc.tuple(value, value).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const gain = fc.constantFrom(1 / 8, 1 / 2);
/** Averages of doubles round differently from their inputs. */
const TOLERANCE = 1e-6;

describe("smoothed", () => {
  it("follows RFC 6298: a measurement counts for 1/8 of the mean and 1/4 of the deviation", () => {
    const time = smoothed(50);
    time.observe(exactly(16));
    expect([time.mean, time.deviation]).toEqual([16, 0]);
    time.observe(exactly(32));
    expect([time.mean, time.deviation]).toEqual([18, 4]);
    time.observe(exactly(18));
    expect([time.mean, time.deviation]).toEqual([18, 3]);
  });

  it("learns nothing from an interval that contains its mean and its deviation", () => {
    const time = smoothed(50);
    time.observe(exactly(16));
    time.observe(exactly(32));
    time.observe({ from: 0, to: 100 });
    expect([time.mean, time.deviation]).toEqual([18, 4]);
  });

  it("moves to the nearer end of an interval", () => {
    const time = smoothed(0);
    time.observe(exactly(16));
    time.observe({ from: 24, to: 1_000 });
    expect(time.mean).toBe(17);
  });

  it("keeps its prior until a measurement contradicts it", () => {
    const time = smoothed(50);
    time.observe({ from: 10, to: 200 });
    expect(time.mean).toBe(50);
    time.observe({ from: 10, to: 30 });
    expect(time.mean).toBe(30);
  });

  it("stays in the range of its measurements and its prior, whatever it observes", () => {
    fc.assert(
      fc.property(value, gain, fc.array(interval, { maxLength: 50 }), (prior, fallGain, measured) => {
        const time = smoothed(prior, fallGain);
        for (const one of measured) time.observe(one);
        const all = [prior, ...measured.flatMap(({ from, to }) => [from, to])];
        const [least, most] = [Math.min(...all), Math.max(...all)];
        expect(time.mean).toBeGreaterThanOrEqual(least - TOLERANCE);
        expect(time.mean).toBeLessThanOrEqual(most + TOLERANCE);
        expect(time.deviation).toBeGreaterThanOrEqual(0);
        expect(time.deviation).toBeLessThanOrEqual(most - least + TOLERANCE);
      }),
    );
  });

  it("never moves away from a true value that every interval contains", () => {
    fc.assert(
      fc.property(value, value, gain, fc.array(fc.tuple(value, value)), (prior, truth, fallGain, widths) => {
        const time = smoothed(prior, fallGain);
        for (const [below, above] of widths) {
          const before = Math.abs(time.mean - truth);
          time.observe({ from: truth - below, to: truth + above });
          expect(Math.abs(time.mean - truth)).toBeLessThanOrEqual(before + TOLERANCE);
        }
      }),
    );
  });

  it("forgets its deviation while it drifts, so that an unused region does not stay uncertain", () => {
    const time = smoothed(0);
    time.observe({ from: 10, to: 10 });
    time.observe({ from: 50, to: 50 });
    const before = time.deviation;
    for (let probe = 0; probe < 10; probe++) time.driftTo(1);
    expect(time.mean).toBeLessThan(10);
    expect(time.deviation).toBeLessThan(before / 10);
  });
});
