import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { machineSpeed } from "./speed.ts";

const factor = fc.double({ min: 0.2, max: 20, noNaN: true });
const turns = fc.array(fc.double({ min: 1, max: 100, noNaN: true }), { minLength: 1, maxLength: 50 });

describe("machineSpeed", () => {
  it("assumes an equal machine at first, without certainty", () => {
    expect(machineSpeed().predict(10, 2)).toEqual({ ms: 10, spreadMs: 2.5 });
  });

  it("predicts the time of a machine with a constant speed", () => {
    fc.assert(
      fc.property(factor, turns, (slower, observed) => {
        const speed = machineSpeed();
        for (const ms of observed) speed.observe(ms, slower * ms);
        expect(speed.predict(10, 1).ms).toBeCloseTo(10 * slower, 6);
      }),
    );
  });

  it("becomes certain while the speed stays the same", () => {
    const speed = machineSpeed();
    for (let turn = 0; turn < 20; turn++) speed.observe(10, 20);
    expect(speed.predict(10, 1).spreadMs).toBeLessThan(0.1);
  });

  it("follows a machine that becomes slower, and reports how uncertain this makes it", () => {
    const speed = machineSpeed();
    for (let turn = 0; turn < 20; turn++) speed.observe(10, 10);
    for (let turn = 0; turn < 4; turn++) speed.observe(10, 30);
    const { ms, spreadMs } = speed.predict(10, 1);
    expect(ms + 2 * spreadMs).toBeGreaterThan(30);
    for (let turn = 0; turn < 40; turn++) speed.observe(10, 30);
    expect(speed.predict(10, 1).ms).toBeCloseTo(30, 0);
  });

  it("predicts within the range of what it has observed", () => {
    const ratios = fc.array(fc.double({ min: 0.2, max: 20, noNaN: true }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(ratios, (observed) => {
        const speed = machineSpeed();
        for (const ratio of observed) speed.observe(10, 10 * ratio);
        const { ms } = speed.predict(1, 0);
        expect(ms).toBeGreaterThanOrEqual(Math.min(...observed) * 0.999);
        expect(ms).toBeLessThanOrEqual(Math.max(...observed) * 1.001);
      }),
    );
  });

  it("ignores a clock that stands still, and turns that are too short to measure", () => {
    const speed = machineSpeed();
    speed.observe(50, 0);
    speed.observe(0.1, 5);
    expect(speed.predict(10, 1)).toEqual({ ms: 10, spreadMs: 2.5 });
  });

  it("learns short times from a clock that moves in steps of 1 ms", () => {
    const speed = machineSpeed();
    for (let turn = 0, seen = 0; turn < 1_000; turn++) {
      const now = Math.floor(0.43 * (turn + 1));
      speed.observe(1, now - seen);
      seen = now;
    }
    expect(speed.predict(1, 0).ms).toBeGreaterThan(0.3);
    expect(speed.predict(1, 0).ms).toBeLessThan(0.6);
  });

  it("bounds what a single wrong time can do", () => {
    const speed = machineSpeed();
    speed.observe(1, 1e12);
    expect(speed.predict(1, 0).ms).toBeLessThanOrEqual(32);
  });

  it("adds the time between turns", () => {
    const speed = machineSpeed();
    for (let turn = 0; turn < 50; turn++) speed.observeGap(2);
    expect(speed.predict(10, 3).ms).toBeCloseTo(16, 1);
  });
});
