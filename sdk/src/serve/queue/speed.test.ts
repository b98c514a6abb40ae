import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { machineSpeed } from "./speed.ts";

const factor = fc.double({ min: 0.2, max: 20, noNaN: true });
const turns = fc.array(fc.double({ min: 1, max: 100, noNaN: true }), { minLength: 60, maxLength: 80 });

function newSpeed(compilesAsItRuns = false) {
  const clock = { now: 0 };
  const speed = machineSpeed({ compilesAsItRuns, now: () => clock.now });
  return Object.assign(speed, { clock });
}

describe("machineSpeed", () => {
  it("assumes an equal machine at first, without certainty", () => {
    expect(newSpeed().predict(10, 2)).toEqual({ ms: 10, spreadMs: 2.5 });
  });

  it("predicts the time of a machine with a constant speed", () => {
    fc.assert(
      fc.property(factor, turns, (slower, observed) => {
        const speed = newSpeed();
        for (const ms of observed) speed.observe(ms, slower * ms);
        expect(speed.predict(10, 1).ms / (10 * slower)).toBeGreaterThan(0.99);
        expect(speed.predict(10, 1).ms / (10 * slower)).toBeLessThan(1.01);
      }),
    );
  });

  it("believes the first turns more than its assumption", () => {
    const speed = newSpeed();
    for (let turn = 0; turn < 3; turn++) speed.observe(10, 30);
    expect(speed.predict(10, 1).ms).toBeGreaterThan(28);
  });

  it("believes a short turn less: what disturbs a turn weighs more in it", () => {
    const [short, long] = [newSpeed(), newSpeed()];
    short.observe(1, 5);
    long.observe(10, 50);
    expect(short.predict(10, 1).ms).toBeLessThan(0.8 * long.predict(10, 1).ms);
  });

  it("returns to its assumption while nothing is computed, without certainty", () => {
    const speed = newSpeed();
    for (let turn = 0; turn < 20; turn++) speed.observe(10, 30);
    speed.clock.now += 600_000;
    const { ms, spreadMs } = speed.predict(10, 1);
    expect(ms).toBeCloseTo(10, 3);
    // It does not know any more that the machine takes 30 ms.
    expect(spreadMs).toBeGreaterThan(20);
  });

  it("becomes certain while the speed stays the same", () => {
    const speed = newSpeed();
    for (let turn = 0; turn < 40; turn++) speed.observe(10, 20);
    expect(speed.predict(10, 1).spreadMs).toBeLessThan(0.1);
  });

  it("follows a machine that becomes slower, and reports how uncertain this makes it", () => {
    const speed = newSpeed();
    for (let turn = 0; turn < 20; turn++) speed.observe(10, 10);
    for (let turn = 0; turn < 4; turn++) speed.observe(10, 30);
    const { ms, spreadMs } = speed.predict(10, 1);
    expect(ms + 2 * spreadMs).toBeGreaterThan(30);
    for (let turn = 0; turn < 40; turn++) speed.observe(10, 30);
    expect(speed.predict(10, 1).ms).toBeCloseTo(30, 0);
  });

  it("predicts within the range of its assumption and what it has observed", () => {
    const ratios = fc.array(fc.double({ min: 0.2, max: 20, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(ratios, (observed) => {
        const speed = newSpeed();
        for (const ratio of observed) speed.observe(10, 10 * ratio);
        const { ms } = speed.predict(1, 0);
        expect(ms).toBeGreaterThanOrEqual(Math.min(1, ...observed) * 0.999);
        expect(ms).toBeLessThanOrEqual(Math.max(1, ...observed) * 1.001);
      }),
    );
  });

  it("ignores a clock that stands still, and turns that are too short to measure", () => {
    const speed = newSpeed();
    speed.observe(50, 0);
    speed.observe(0.1, 5);
    expect(speed.predict(10, 1)).toEqual({ ms: 10, spreadMs: 2.5 });
  });

  it("learns short times from a clock that moves in steps of 1 ms", () => {
    const speed = newSpeed();
    for (let turn = 0, seen = 0; turn < 1_000; turn++) {
      const now = Math.floor(0.43 * (turn + 1));
      speed.observe(1, now - seen);
      seen = now;
    }
    expect(speed.predict(1, 0).ms).toBeGreaterThan(0.3);
    expect(speed.predict(1, 0).ms).toBeLessThan(0.6);
  });

  it("bounds what a single wrong time can do", () => {
    const speed = newSpeed();
    speed.observe(1, 1e12);
    expect(speed.predict(1, 0).ms).toBeLessThanOrEqual(32);
  });

  it("adds the time between turns", () => {
    const speed = newSpeed();
    for (let turn = 0; turn < 50; turn++) speed.observeGap(2);
    expect(speed.predict(10, 3).ms).toBeCloseTo(16, 1);
  });
});

describe("machineSpeed of an engine that compiles as it runs", () => {
  /** Times of the first calls of 256 tokens in workerd, in ms. 28 ms were measured when the model was prepared. */
  const FIRST_CALLS = [68, 44, 35, 34, 35, 36];

  it("predicts that the first call takes longer, without certainty", () => {
    const { ms, spreadMs } = newSpeed(true).predict(28, 1);
    expect(ms).toBeGreaterThan(1.5 * 28);
    expect(ms).toBeLessThan(3 * 28);
    expect(spreadMs).toBeGreaterThan(0.25 * 28);
  });

  it("does not take a cold engine for a slow machine", () => {
    const speed = newSpeed(true);
    for (const ms of FIRST_CALLS) {
      speed.observe(28, ms);
      expect(speed.predict(28, 1).ms).toBeLessThan(45);
    }
    expect(speed.isWarm()).toBe(true);
    expect(speed.predict(28, 1).ms).toBeGreaterThan(30);
  });

  it("learns from the first calls that a machine is slow", () => {
    const speed = newSpeed(true);
    for (const ms of FIRST_CALLS.slice(0, 3)) speed.observe(28, 3 * ms);
    expect(speed.predict(28, 1).ms).toBeGreaterThan(2.5 * 35);
  });

  it("becomes warm by work, also where the clock stands still", () => {
    const speed = newSpeed(true);
    for (let turn = 0; turn < 30; turn++) speed.observe(2, 0);
    expect(speed.isWarm()).toBe(true);
    expect(speed.isBlind()).toBe(true);
    expect(speed.predict(10, 1).ms).toBeLessThan(11);
  });
});
