import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { virtualClock } from "./clock.ts";

describe("virtualClock", () => {
  it("runs events in the order of their times, also those that events add", () => {
    const delays = fc.array(fc.record({ at: fc.nat(5_000), later: fc.nat(5_000) }), { maxLength: 3_000 });
    fc.assert(
      fc.property(delays, (events) => {
        const clock = virtualClock();
        const times: number[] = [];
        const note = (due: number) => {
          expect(clock.now()).toBe(due);
          times.push(due);
        };
        for (const { at, later } of events) {
          clock.at(at, () => {
            note(at);
            clock.after(later, () => note(at + later));
          });
        }
        clock.runUntil(20_000);
        expect(times).toEqual(events.flatMap(({ at, later }) => [at, at + later]).sort((a, b) => a - b));
        expect(clock.now()).toBe(20_000);
      }),
      seeded(30),
    );
  });

  it("leaves events at and after the end for later", () => {
    const clock = virtualClock();
    const times: number[] = [];
    for (const at of [3, 1, 2]) clock.at(at, () => times.push(at));
    clock.runUntil(2);
    expect(times).toEqual([1]);
    clock.runUntil(10);
    expect(times).toEqual([1, 2, 3]);
  });
});
