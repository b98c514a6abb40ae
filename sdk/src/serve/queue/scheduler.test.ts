import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { latch } from "#test/fixtures/tiny-model.ts";
import { anyone } from "./caller.ts";
import { type TurnScheduler, turnScheduler } from "./scheduler.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const work = { caller: anyone, engineMs: 10, loadMs: 10, measuredMs: 10, calls: [5, 5], parallel: 1 };
const due = (inMs: number) => ({ ...work, dueAt: clock() + inMs });
const whenever = { ...work, dueAt: undefined };

/** Lets everything happen that only waits for the thread. */
const settle = () => vi.advanceTimersByTimeAsync(5);

/** Time that computations have occupied the thread. Fake timers cannot advance while code runs. */
let computedMs = 0;
const spend = (ms: number) => {
  computedMs += ms;
};
const clock = () => performance.now() + computedMs;

const make = (blocksThread = true): TurnScheduler => turnScheduler({ engine: { blocksThread }, now: clock });

/** Runs a request with some turns, and records its name with each turn. */
function request(
  scheduler: TurnScheduler,
  record: string[],
  name: string,
  work: Parameters<TurnScheduler["using"]>[0],
  count = 1,
) {
  return scheduler.using(work, {}, async (ticket) => {
    for (let i = 0; i < count; i++) {
      await ticket.turn(5, async () => {
        record.push(name);
        spend(5);
      });
    }
    return name;
  });
}

describe("turnScheduler", () => {
  it("runs work at once on an idle machine", async () => {
    const scheduler = make();
    const answer = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => "done"));
    await Promise.resolve();
    expect(await answer).toBe("done");
  });

  it("never runs two pieces of work at the same time", async () => {
    const scheduler = make(false);
    let running = 0;
    const one = () =>
      scheduler.using(whenever, {}, (ticket) =>
        ticket.turn(5, async () => {
          expect(++running).toBe(1);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running--;
        }),
      );
    const all = Promise.all([one(), one(), one()]);
    await vi.advanceTimersByTimeAsync(1_000);
    await all;
  });

  it("lets the earliest deadline go first, also before the next turn of a request that has begun", async () => {
    const scheduler = make();
    const record: string[] = [];
    const all = [
      request(scheduler, record, "bulk", whenever, 3),
      request(scheduler, record, "soon", due(1_000)),
      request(scheduler, record, "now", due(100)),
    ];
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(all);
    expect(record).toEqual(["bulk", "now", "soon", "bulk", "bulk"]);
  });

  it("lets a more urgent request overtake that arrives just before a turn", async () => {
    const scheduler = make();
    const record: string[] = [];
    const first = request(scheduler, record, "first", whenever);
    const second = request(scheduler, record, "second", whenever);
    // The second request has been chosen, and lets everything else run before its turn.
    await first;
    const urgent = request(scheduler, record, "urgent", due(100));
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all([second, urgent]);
    expect(record).toEqual(["first", "urgent", "second"]);
  });

  it("lets others run between turns that occupy the thread", async () => {
    const scheduler = make();
    const record: string[] = [];
    setImmediate(() => record.push("other"));
    const all = request(scheduler, record, "bulk", whenever, 2);
    await vi.advanceTimersByTimeAsync(1_000);
    await all;
    expect(record).toEqual(["bulk", "other", "bulk"]);
  });

  it.each([
    [
      "lets computations follow each other when others have had the thread for longer than their part",
      [whenever],
      "bcde",
    ],
    ["lets others run before each computation while a request has a deadline", [whenever, due(10_000)], "b"],
  ])("%s", async (_, works, together) => {
    const scheduler = make();
    const record: string[] = [];
    // Whenever others have the thread, they keep it for twelve times as long as a computation.
    const other = () => {
      record.push("other");
      spend(60);
    };
    const between = (name: string, i: number) =>
      scheduler.using(works[i % works.length] as (typeof works)[number], {}, (ticket) =>
        ticket.turn(5, async () => {
          record.push(name);
          spend(5);
          setImmediate(other);
        }),
      );
    const all = [..."abcdef"].map(between);
    await vi.advanceTimersByTimeAsync(1_000);
    await Promise.all(all);
    // A third of 60 ms is four computations.
    expect(record.slice(0, 3 + together.length)).toEqual(["a", "other", ...together, "other"]);
  });

  it("lets others run between requests that each come alone, as from sockets that are ready at once", async () => {
    const scheduler = make();
    const record: string[] = [];
    setImmediate(() => record.push("other"));
    const all = (async () => {
      for (let i = 0; i < 10; i++) {
        scheduler.noticed(clock());
        await request(scheduler, record, "alone", whenever);
      }
    })();
    await vi.advanceTimersByTimeAsync(100);
    await all;
    expect(record.indexOf("other")).toBeLessThan(6);
  });

  it("computes again when others have had the thread for as long as the last computation, as in a flood of requests", async () => {
    const scheduler = make();
    const record: string[] = [];
    // Whenever others have the thread, they keep it for four times as long as a computation.
    let looks = 0;
    const look = () => {
      spend(20);
      if (++looks < 50) setImmediate(look);
    };
    setImmediate(look);
    const all = scheduler.using(whenever, {}, async (ticket) => {
      for (let i = 0; i < 3; i++) {
        scheduler.startFetch(undefined);
        await ticket.turn(5, async () => {
          record.push(`after ${looks}`);
          spend(5);
        });
      }
    });
    await settle();
    await all;
    expect(record).toEqual(["after 1", "after 2", "after 3"]);
  });

  it("passes on the error of the work, and serves the next request", async () => {
    const scheduler = make();
    const failing = scheduler.using(whenever, {}, (ticket) =>
      ticket.turn(5, () => Promise.reject(new Error("broken"))),
    );
    await expect(failing).rejects.toThrow("broken");
    const next = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => "done"));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await next).toBe("done");
    expect(scheduler.outlook(whenever).waitMs).toBe(0);
  });

  it("computes nothing for a caller who has gone, neither before nor between turns", async () => {
    const scheduler = make();
    const record: string[] = [];
    const caller = new AbortController();
    const running = scheduler.using(whenever, { signal: caller.signal }, async (ticket) => {
      await ticket.turn(5, async () => {
        record.push("first turn");
        caller.abort();
      });
      await ticket.turn(5, async () => record.push("second turn"));
    });
    const waiting = scheduler.using(whenever, { signal: caller.signal }, (ticket) =>
      ticket.turn(5, async () => record.push("waited")),
    );
    const other = request(scheduler, record, "other", whenever);
    const outcomes = Promise.allSettled([running, waiting, other]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(record).toEqual(["first turn", "other"]);
    expect(scheduler.outlook(whenever).waitMs).toBe(0);
  });

  it("does not compute an answer that would be very late", async () => {
    const scheduler = make(false);
    const slow = latch();
    const first = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, () => slow.promise));
    const giveUpAt = clock() + 50;
    const late = scheduler.using(due(10), { giveUpAt }, (ticket) => ticket.turn(5, async () => "late"));
    const refused = expect(late).rejects.toMatchObject({ code: "budget_exceeded" });
    await vi.advanceTimersByTimeAsync(60);
    slow.resolve();
    await refused;
    await first;
  });

  it("goes on without a request that has vanished, as workerd ends requests without notice", async () => {
    const scheduler = make();
    // This request has a ticket, but never asks for its turn.
    void scheduler.using(due(1), {}, () => new Promise(() => {}));
    const next = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => "done"));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await next).toBe("done");
  });

  it("forgets a vanished request even if nobody waits behind it", async () => {
    const scheduler = make();
    void scheduler.using(due(1), {}, () => new Promise(() => {}));
    expect(scheduler.outlook(due(100)).waitMs).toBe(10);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(scheduler.outlook(due(100)).waitMs).toBe(0);
  });

  it("goes on without a request that was ended during its computation", async () => {
    const scheduler = make();
    void scheduler.using(whenever, {}, (ticket) => ticket.turn(5, () => new Promise(() => {})));
    const next = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => "done"));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await next).toBe("done");
  });

  it("tells a request that has lost its ticket, and does not let it compute beside others", async () => {
    const scheduler = make();
    const [asleep, held] = [latch(), latch()];
    const sleeper = scheduler.using(due(1), {}, async (ticket) => {
      await asleep.promise;
      return ticket.turn(5, async () => "too late");
    });
    const lost = expect(sleeper).rejects.toMatchObject({ code: "overloaded", retryAfterMs: expect.any(Number) });
    const next = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, () => held.promise.then(() => "done")));
    await vi.advanceTimersByTimeAsync(1_500);
    asleep.resolve();
    await lost;
    held.resolve();
    expect(await next).toBe("done");
  });

  it("does not take a long computation for a request that has vanished", async () => {
    const scheduler = make(false);
    const slow = latch();
    const first = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, () => slow.promise.then(() => "first")));
    const second = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => "second"));
    await vi.advanceTimersByTimeAsync(60_000);
    slow.resolve();
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all([first, second])).toEqual(["first", "second"]);
  });
});

describe("outlook", () => {
  it("sees no wait on an idle machine", () => {
    expect(make().outlook(due(10))).toEqual({ waitMs: 0, isNext: true, delaysOthers: false, delaysFetches: false });
  });

  it("counts the work of requests that wait or compute, until they end", async () => {
    const scheduler = make();
    const held = latch();
    const first = scheduler.using(due(50), {}, () => held.promise);
    expect(scheduler.outlook(due(100)).waitMs).toBe(10);
    expect(scheduler.outlook(due(20))).toMatchObject({ waitMs: 0, delaysOthers: false });
    held.resolve();
    await first;
    expect(scheduler.outlook(due(100)).waitMs).toBe(0);
  });

  it("sees that the answer of a fetch is due during a computation that occupies the thread", () => {
    const [scheduler, beside] = [make(), make(false)];
    const handled = scheduler.startFetch(clock() + 5);
    beside.startFetch(clock() + 5);
    expect(scheduler.outlook(due(100))).toMatchObject({ delaysFetches: true });
    expect(beside.outlook(due(100))).toMatchObject({ delaysFetches: false });
    handled();
    scheduler.startFetch(clock() + 11);
    scheduler.startFetch(undefined);
    expect(scheduler.outlook(due(100))).toMatchObject({ delaysFetches: false });
  });

  it("sees that others would become late", async () => {
    const scheduler = make();
    const held = latch();
    const first = scheduler.using(due(15), {}, () => held.promise);
    expect(scheduler.outlook(due(12)).delaysOthers).toBe(true);
    held.resolve();
    await first;
  });

  it("learns how slow this machine is", async () => {
    const scheduler = make();
    for (let i = 0; i < 20; i++) {
      const turn = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(15)));
      await settle();
      await turn;
    }
    expect(scheduler.speed.predict(5, 0).ms).toBeCloseTo(15, 0);
  });
});

describe("turns of an engine that computes two calls side by side", () => {
  const single = { engineMs: 10, loadMs: 5, measuredMs: 10, calls: [10], parallel: 2 };
  const soon = (inMs: number) => ({ ...single, caller: anyone, dueAt: clock() + inMs });

  /** Starts requests of one call of 10 ms each. Records the time at which each call begins. */
  function start(scheduler: TurnScheduler, begun: Record<string, number>, name: string, inMs: number, calls = 1) {
    const work = { ...soon(inMs), calls: Array(calls).fill(10), measuredMs: 10 * calls, loadMs: 5 * calls };
    return scheduler.using(work, {}, async (ticket) => {
      const call = (index: number) =>
        ticket.turn(10, async () => {
          begun[`${name}${index}`] = clock();
          await new Promise((resolve) => setTimeout(resolve, 10));
        });
      await Promise.all(work.calls.map((_, index) => call(index)));
    });
  }

  it("run two at a time, the earliest deadline first", async () => {
    const scheduler = make(false);
    const begun: Record<string, number> = {};
    const at = clock();
    const all = [
      start(scheduler, begun, "a", 100),
      start(scheduler, begun, "b", 100),
      start(scheduler, begun, "late", 900),
      start(scheduler, begun, "early", 500),
    ];
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(all);
    expect(begun).toEqual({ a0: at, b0: at, early0: at + 10, late0: at + 10 });
  });

  it("can both belong to one request, unless another one is more urgent", async () => {
    const scheduler = make(false);
    const begun: Record<string, number> = {};
    const at = clock();
    const many = start(scheduler, begun, "many", 1_000, 4);
    await vi.advanceTimersByTimeAsync(1);
    const urgent = start(scheduler, begun, "urgent", 100);
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all([many, urgent]);
    expect(begun).toEqual({ many0: at, many1: at, urgent0: at + 10, many2: at + 10, many3: at + 20 });
  });

  it("make nobody wait while one is free, and half as long as one call at a time otherwise", async () => {
    const scheduler = make(false);
    const begun: Record<string, number> = {};
    const all = [start(scheduler, begun, "a", 1_000)];
    await vi.advanceTimersByTimeAsync(0);
    expect(scheduler.outlook(soon(2_000)).waitMs).toBe(0);
    all.push(start(scheduler, begun, "b", 1_000), start(scheduler, begun, "c", 1_000));
    await vi.advanceTimersByTimeAsync(0);
    expect(scheduler.outlook(soon(2_000)).waitMs).toBe(15);
    expect(scheduler.outlook(soon(100)).waitMs).toBe(5);
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(all);
    expect(scheduler.outlook(soon(2_000)).waitMs).toBe(0);
  });

  it("are given back by requests whose caller has gone, that fail, or that vanish", async () => {
    const scheduler = make(false);
    const gone = new AbortController();
    const never = scheduler.using(soon(1_000), {}, () => new Promise(() => {}));
    never.catch(() => {});
    const leaving = scheduler.using(soon(900), { signal: gone.signal }, (ticket) =>
      ticket.turn(10, async () => {
        gone.abort();
        gone.signal.throwIfAborted();
      }),
    );
    await expect(leaving).rejects.toThrow();
    const begun: Record<string, number> = {};
    const all = Promise.all(["a", "b", "c", "d"].map((name) => start(scheduler, begun, name, 5_000)));
    await vi.advanceTimersByTimeAsync(3_000);
    await all;
    expect(Object.keys(begun)).toHaveLength(4);
  });
});

describe("the gap before a turn", () => {
  /** Runs a request that comes after a computation, while `others` use the thread. */
  async function after(scheduler: TurnScheduler, others: () => void): Promise<void> {
    await scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(5)));
    setImmediate(others);
    const second = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(5)));
    await settle();
    await second;
    const settled = scheduler.settled();
    await settle();
    await settled;
  }

  it("is learned when others use the thread before it, also if nobody waited when the last turn ended", async () => {
    const scheduler = make();
    for (let i = 0; i < 50; i++) await after(scheduler, () => spend(7));
    expect(scheduler.speed.predict(0, 1).ms).toBeCloseTo(7, 0);
  });

  it("is forgotten on an idle machine", async () => {
    const scheduler = make();
    for (let i = 0; i < 50; i++) await after(scheduler, () => {});
    expect(scheduler.speed.predict(0, 1).ms).toBeLessThan(3);
  });
});

describe("the thread after a computation", () => {
  /** Computes for a time. Returns whether the computation begins before the event loop turns. */
  async function computesAtOnce(scheduler: TurnScheduler, tookMs: number): Promise<boolean> {
    let hasBegun = false;
    const work = async () => {
      hasBegun = true;
      spend(tookMs);
    };
    const done = scheduler.using(whenever, {}, (ticket) => ticket.turn(5, work));
    for (let i = 0; i < 20; i++) await Promise.resolve();
    const atOnce = hasBegun;
    for (let i = 0; i < 6; i++) await vi.advanceTimersToNextTimerAsync();
    await done;
    return atOnce;
  }

  it.each([
    ["goes to others first, which may have arrived meanwhile", false, 5, 0],
    ["is the next request's if it has come alone: its headers and its body took two turns", true, 5, 1],
    ["goes to others first if more than one request was noticed", false, 5, 2],
    ["is the next request's after a short computation", true, 1, 2],
  ])("%s", async (_, expected, tookMs, noticed) => {
    const scheduler = make();
    await computesAtOnce(scheduler, tookMs);
    for (let i = 0; i < noticed; i++) scheduler.noticed(clock());
    expect(await computesAtOnce(scheduler, 0)).toBe(expected);
  });

  it("goes to others after short computations that take long together", async () => {
    const scheduler = make();
    const atOnce = [];
    for (let i = 0; i < 5; i++) atOnce.push(await computesAtOnce(scheduler, 0.75));
    expect(atOnce).toEqual([true, true, true, false, true]);
  });

  it("goes to others after short computations with a moment between them", async () => {
    const scheduler = make();
    const atOnce = [];
    for (let i = 0; i < 3; i++) {
      atOnce.push(await computesAtOnce(scheduler, 1.9));
      spend(0.3);
    }
    expect(atOnce).toEqual([true, true, false]);
  });

  it("goes to others while the answer of a fetch is awaited, even if a request has come alone", async () => {
    const scheduler = make();
    scheduler.startFetch(clock() + 1_000);
    await computesAtOnce(scheduler, 5);
    scheduler.noticed(clock());
    expect(await computesAtOnce(scheduler, 0)).toBe(false);
  });
});

describe("noticed", () => {
  /** Returns by how long a request can have arrived earlier than it is noticed, so long after a computation. */
  async function uncertainMs(tookMs: number, afterMs: number): Promise<number> {
    const scheduler = make();
    await scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(tookMs)));
    spend(afterMs);
    return clock() - scheduler.noticed(clock());
  }

  it("returns the begin of a computation that occupied the thread, until everything that arrived has been handled", async () => {
    const scheduler = make();
    const begin = clock();
    await scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(30)));
    expect([scheduler.noticed(clock()), scheduler.noticed(clock())]).toEqual([begin, begin]);
    const settled = scheduler.settled();
    await settle();
    await settled;
    expect(scheduler.noticed(123)).toBe(123);
  });

  it("believes for a short time that a short computation has delayed a request", async () => {
    expect(await uncertainMs(1, 0.5)).toBeCloseTo(1.5);
    expect(await uncertainMs(1, 2.5)).toBe(0);
    expect(await uncertainMs(30, 2.5)).toBeCloseTo(32.5);
  });

  it("returns now if computations do not occupy the thread", async () => {
    const scheduler = make(false);
    await scheduler.using(whenever, {}, (ticket) => ticket.turn(5, async () => spend(30)));
    expect(scheduler.noticed(123)).toBe(123);
  });
});
