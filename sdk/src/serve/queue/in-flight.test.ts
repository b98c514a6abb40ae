import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type Caller, callerWith, type Hold } from "./caller.ts";
import { answeringMs, inFlight } from "./in-flight.ts";

const [web, batch] = [callerWith({ name: "web" }), callerWith({ name: "batch" })];
const MAX = 1_000;

function setUp() {
  let at = 0;
  const refused = vi.fn();
  const memory = inFlight({ maxBytes: () => MAX, refused, now: () => at, requestBytes: 0 });
  const hold = (caller: Caller, bytes: number, forMs = 1_000) => memory.hold({ caller }, bytes, forMs);
  /** Holds pieces of `bytes` until one is refused. Returns how many were not. */
  const flood = (caller: Caller, bytes: number): number => {
    for (let count = 0; count < 2 * MAX; count++) {
      try {
        hold(caller, bytes);
      } catch {
        return count;
      }
    }
    return Number.POSITIVE_INFINITY;
  };
  const pass = (ms: number) => {
    at += ms;
  };
  return { memory, hold, flood, refused, pass };
}

describe("memory in flight", () => {
  it("lets a key hold half, and leaves half of the rest to the next one", () => {
    const { memory, flood } = setUp();
    expect(flood(batch, 10)).toBe(50);
    expect(flood(web, 10)).toBe(25);
    expect(memory.bytes()).toBe(750);
  });

  it("gives a key more by its weight, also a new one", () => {
    const { flood } = setUp();
    expect(flood(callerWith({ name: "web", weight: 3 }), 10)).toBe(75);
    expect(flood(callerWith({ name: "web", weight: 1 }), 10)).toBe(0);
  });

  it("gives a key no more for many names behind it, and each of them a part", () => {
    const { flood, memory } = setUp();
    expect(flood(callerWith({ name: "edge" }, "a"), 10)).toBe(34);
    for (let name = 0; name < 100; name++) flood(callerWith({ name: "edge" }, `${name}`), 10);
    expect(memory.bytes()).toBeLessThanOrEqual(510);
    expect(flood(web, 10)).toBeGreaterThan(20);
  });

  it("accepts any request that is alone, and the first of a key while there is room for it", () => {
    const { hold } = setUp();
    const alone = hold(web, 5 * MAX);
    expect(() => hold(batch, 1)).toThrow(expect.objectContaining({ code: "overloaded" }));
    alone.release();
    const first = hold(batch, 700);
    expect(() => hold(batch, 10)).toThrow();
    expect(() => hold(web, 290)).not.toThrow();
    first.release();
  });

  it("refuses growth, keeps what was held before, and tells about each refusal once", () => {
    const { memory, hold, flood, refused } = setUp();
    flood(web, 10);
    refused.mockClear();
    const growing = hold(batch, 10);
    hold(batch, 10);
    expect(() => growing.reserve(600)).toThrow(expect.objectContaining({ code: "overloaded", retryAfterMs: 1_000 }));
    expect(refused).toHaveBeenCalledTimes(1);
    expect(memory.bytes()).toBe(520);
    growing.count(400);
    expect(memory.bytes()).toBe(920);
  });

  it("counts until everybody has released it, and once", () => {
    const { memory, hold } = setUp();
    const held = hold(web, 10);
    held.retain();
    held.release();
    held.reserve(5);
    expect(memory.bytes()).toBe(15);
    held.release();
    held.release();
    held.count(100);
    expect(memory.bytes()).toBe(0);
  });

  it("forgets requests that have vanished, but only for room", () => {
    const { memory, hold, flood, pass } = setUp();
    hold(batch, 10, 10);
    hold(batch, 10, 10).keep(5_000);
    pass(100);
    flood(batch, 10);
    expect(memory.bytes()).toBe(500);
    pass(2_000);
    expect(flood(batch, 10)).toBe(49);
  });

  it.each([
    [undefined, 600_000],
    [50, 600_000],
    [1_000_000, 1_000_000],
    [999_999_999, 3_600_000],
    [Number.POSITIVE_INFINITY, 600_000],
  ])("counts a request with %s ms left for %i ms", (left, ms) => {
    expect(answeringMs(left)).toBe(ms);
  });

  it("limits the requests of a key in flight, with all callers behind it", () => {
    const { hold, pass } = setUp();
    const few = { name: "few", requestsInFlight: 2 };
    const first = hold(callerWith(few, "a"), 1, 5_000);
    hold(callerWith(few, "b"), 1);
    expect(() => hold(callerWith(few, "c"), 1)).toThrow(expect.objectContaining({ code: "rate_limited" }));
    expect(() => hold(web, 1)).not.toThrow();
    // One that has vanished makes room for another.
    pass(2_000);
    expect(() => hold(callerWith(few, "c"), 1)).not.toThrow();
    first.release();
    expect(() => hold(callerWith(few, "c"), 1)).not.toThrow();
  });

  it("never exceeds its bounds, and is empty when all have ended", () => {
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      behind: fc.constantFrom(undefined, "x", "y"),
      bytes: fc.integer({ min: 1, max: 300 }),
      act: fc.constantFrom("hold", "reserve", "release"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { memory, hold } = setUp();
        const held: Hold[] = [];
        for (const { key, behind, bytes, act } of steps) {
          try {
            if (act === "hold") held.push(hold(callerWith({ name: key }, behind), bytes));
            else if (act === "reserve") held[bytes % held.length]?.reserve(bytes);
            else held.shift()?.release();
          } catch {}
          expect(memory.bytes()).toBeLessThanOrEqual(MAX);
        }
        for (const each of held) each.release();
        expect(memory.bytes()).toBe(0);
      }),
    );
  });
});
