import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ewma, exactly } from "./ewma.ts";

const value = fc.double({ min: 0, max: 1e6, noNaN: true });
const interval = fc.tuple(value, value).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const gain = fc.constantFrom(1 / 8, 1 / 2);
/** Averages of doubles round differently from their inputs. */
const TOLERANCE = 1e-6;

describe("ewma", () => {
  it("follows RFC 6298: a measurement counts for 1/8 of the mean and 1/4 of the deviation", () => {
    const time = ewma({ prior: 50 });
    time.observe(exactly(16));
    expect([time.mean, time.deviation]).toEqual([16, 0]);
    time.observe(exactly(32));
    expect([time.mean, time.deviation]).toEqual([18, 4]);
    time.observe(exactly(18));
    expect([time.mean, time.deviation]).toEqual([18, 3]);
  });

  it("averages the first measurements of a quantity that scatters", () => {
    const time = ewma({ prior: 20, weight: 1 });
    for (const ms of [16, 32, 18, 22, 24, 16, 12]) time.observe(exactly(ms));
    expect(time.mean).toBeCloseTo(20, 9);
    time.observe(exactly(28));
    expect(time.mean).toBeCloseTo(21, 9);
  });

  it("gives up its deviation as it falls, unless the quantity scatters", () => {
    const [steady, scattering] = [ewma({ prior: 50 }), ewma({ prior: 50, weight: 1 })];
    for (const time of [steady, scattering]) for (const ms of [20, 100, 20]) time.observe(exactly(ms));
    expect(steady.deviation).toBeLessThan(10);
    expect(scattering.deviation).toBeGreaterThan(10);
  });

  it("learns nothing from an interval that contains its mean and its deviation", () => {
    const time = ewma({ prior: 50 });
    time.observe(exactly(16));
    time.observe(exactly(32));
    time.observe({ from: 0, to: 100 });
    expect([time.mean, time.deviation]).toEqual([18, 4]);
  });

  it("moves to the nearer end of an interval", () => {
    const time = ewma({ prior: 0 });
    time.observe(exactly(16));
    time.observe({ from: 24, to: 1_000 });
    expect(time.mean).toBe(17);
  });

  it("keeps its prior until a measurement contradicts it", () => {
    const time = ewma({ prior: 50 });
    time.observe({ from: 10, to: 200 });
    expect(time.mean).toBe(50);
    time.observe({ from: 10, to: 30 });
    expect(time.mean).toBe(30);
  });

  it("stays in the range of its measurements and its prior, whatever it observes", () => {
    fc.assert(
      fc.property(value, gain, fc.array(interval, { maxLength: 50 }), (prior, fallGain, measured) => {
        const time = ewma({ prior, fallGain });
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
        const time = ewma({ prior, fallGain });
        for (const [below, above] of widths) {
          const before = Math.abs(time.mean - truth);
          time.observe({ from: truth - below, to: truth + above });
          expect(Math.abs(time.mean - truth)).toBeLessThanOrEqual(before + TOLERANCE);
        }
      }),
    );
  });

  describe("with a clock", () => {
    function make() {
      const clock = { now: 0 };
      const slowness = ewma({ prior: 1, deviation: 0.25, now: () => clock.now });
      return { clock, slowness };
    }

    it("keeps what was measured in the last seconds", () => {
      const { clock, slowness } = make();
      slowness.observe(exactly(3));
      slowness.observe(exactly(3));
      const { deviation } = slowness;
      clock.now = 10_000;
      expect([slowness.mean, slowness.deviation]).toEqual([3, deviation]);
    });

    it("returns to a shorter prior, so that what was slow is asked again, and is the less certain", () => {
      const { clock, slowness } = make();
      for (let i = 0; i < 20; i++) slowness.observe(exactly(3));
      expect(slowness.deviation).toBeLessThan(0.01);
      clock.now = 40_000;
      expect(slowness.mean).toBeCloseTo(2, 3);
      // The mean has moved by 1, and half of the deviation is that of the prior: a quarter of the mean.
      expect(slowness.deviation).toBeCloseTo(1 + 0.25, 2);
      clock.now = 600_000;
      expect(slowness.mean).toBeCloseTo(1, 3);
      expect(slowness.deviation).toBeCloseTo(2 + 0.25, 3);
    });

    it("does not return to a longer prior: nobody would ask what is believed to be slow", () => {
      const { clock, slowness } = make();
      slowness.observe(exactly(0.05));
      clock.now = 600_000;
      expect(slowness.mean).toBeCloseTo(0.05, 6);
    });

    it("believes the next measurement the more, the older the last one is", () => {
      const { clock, slowness } = make();
      for (let i = 0; i < 20; i++) slowness.observe(exactly(3));
      clock.now = 600_000;
      slowness.observe(exactly(2));
      expect(slowness.mean).toBeCloseTo(2, 3);
    });

    it("does not age while something confirms it", () => {
      const { clock, slowness } = make();
      slowness.observe(exactly(3));
      for (let i = 0; i < 100; i++) {
        clock.now += 9_000;
        slowness.confirm();
      }
      expect(slowness.mean).toBe(3);
    });
  });
});
