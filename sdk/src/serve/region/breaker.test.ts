import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { breaker } from "./breaker.ts";

function setUp() {
  const clock = { now: 1_000 };
  const tested = breaker(() => clock.now);
  /** Records the failure of a request that is sent now. */
  const fail = () => tested.failed(clock.now);
  const open = () => {
    fail();
    fail();
  };
  return { clock, breaker: tested, fail, open };
}

describe("breaker", () => {
  it("stays closed after one failure, and asks for a probe at once", () => {
    const { breaker, fail } = setUp();
    expect(breaker.wantsProbe()).toBe(false);
    expect(fail()).toBe(false);
    expect(breaker.state()).toBe("closed");
    expect(breaker.wantsProbe()).toBe(true);
    breaker.probed();
    expect(breaker.wantsProbe()).toBe(false);
  });

  it("opens at the second failure in a row", () => {
    const { breaker, fail } = setUp();
    fail();
    breaker.answered();
    expect(fail()).toBe(false);
    expect(breaker.state()).toBe("closed");
    expect(fail()).toBe(true);
    expect(breaker.state()).toBe("open");
    expect(breaker.wantsProbe()).toBe(false);
  });

  it("opens at the first answer that is wrong", () => {
    const { breaker, clock } = setUp();
    expect(breaker.failed(clock.now, true)).toBe(true);
    clock.now += 500;
    breaker.probed();
    expect(breaker.failed(clock.now, true)).toBe(true);
    clock.now += 999;
    expect(breaker.state()).toBe("open");
  });

  it("is half-open after the pause, until a probe succeeds", () => {
    const { breaker, clock, open } = setUp();
    open();
    clock.now += 499;
    expect(breaker.state()).toBe("open");
    clock.now += 1;
    expect(breaker.state()).toBe("half-open");
    expect(breaker.wantsProbe()).toBe(true);
    breaker.probed();
    expect(breaker.state()).toBe("closed");
    expect(breaker.wantsProbe()).toBe(false);
  });

  it("doubles the pause with every failed probe, up to 4 seconds", () => {
    const { breaker, clock, fail, open } = setUp();
    open();
    const pauses = [];
    for (let probe = 0; probe < 9; probe++) {
      const start = clock.now;
      while (breaker.state() === "open") clock.now += 500;
      pauses.push(clock.now - start);
      fail();
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000]);
  });

  it("pauses for longer when requests fail although probes succeed, and forgets it after a good answer", () => {
    const { breaker, clock, fail, open } = setUp();
    open();
    clock.now += 500;
    breaker.probed();
    expect(fail()).toBe(true);
    clock.now += 999;
    expect(breaker.state()).toBe("open");
    clock.now += 1;
    breaker.probed();
    breaker.answered();
    open();
    clock.now += 500;
    expect(breaker.state()).toBe("half-open");
  });

  it("counts requests that fail together once", () => {
    const { breaker, clock } = setUp();
    const sentAt = clock.now;
    clock.now += 300;
    for (let request = 0; request < 32; request++) breaker.failed(sentAt);
    clock.now += 500;
    expect(breaker.state()).toBe("half-open");
    // A request that was sent before the breaker opened, and fails only now.
    expect(breaker.failed(sentAt)).toBe(false);
    breaker.probed();
    expect(breaker.failed(sentAt)).toBe(false);
    expect(breaker.state()).toBe("closed");
  });

  it("closes at a late answer", () => {
    const { breaker, open } = setUp();
    open();
    breaker.answered();
    expect(breaker.state()).toBe("closed");
  });

  it("never goes from open to closed by time alone, and never pauses for more than 30 seconds", () => {
    const event = fc.oneof(fc.constantFrom("failed", "answered", "probed"), fc.nat(40_000));
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), (events) => {
        const { breaker, clock, fail } = setUp();
        for (const event of events) {
          if (typeof event === "number") {
            const closed = breaker.state() === "closed";
            clock.now += event;
            expect(breaker.state() === "closed").toBe(closed);
          } else if (event === "failed") fail();
          else breaker[event as "answered" | "probed"]();
        }
        clock.now += 30_000;
        expect(breaker.state()).not.toBe("open");
      }),
    );
  });
});
