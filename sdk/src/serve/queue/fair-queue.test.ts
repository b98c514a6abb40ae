import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Caller, callerWith } from "./caller.ts";
import { type CallersJob, fairQueue } from "./fair-queue.ts";

const [web, batch] = [callerWith({ name: "web" }), callerWith({ name: "batch" })];
const job = (caller: Caller, leftMs: number, dueAt?: number): CallersJob => ({ caller, leftMs, dueAt });

function queueOf(...jobs: CallersJob[]) {
  const queue = fairQueue<CallersJob>();
  for (const each of jobs) queue.add(each);
  return queue;
}

/** Gives a turn to the first job. Returns its caller and its milliseconds. */
function turn(queue: ReturnType<typeof queueOf>, longestMs: number): { id: string; ms: number } {
  const next = queue.first() as CallersJob;
  const ms = Math.min(longestMs, next.leftMs);
  queue.took(next, ms);
  if (next.leftMs === 0) queue.remove(next);
  return { id: next.caller.id, ms };
}

/** Returns the milliseconds of each caller during `turns` turns of `turnMs`. */
function timesOf(queue: ReturnType<typeof queueOf>, turnMs: number, turns: number): Record<string, number> {
  const times: Record<string, number> = {};
  for (let i = 0; i < turns; i++) {
    const { id, ms } = turn(queue, turnMs);
    times[id] = (times[id] ?? 0) + ms;
  }
  return times;
}

const endless = (caller: Caller) => job(caller, 1e9);

describe("callers take turns", () => {
  it("gives the next turn to a caller who comes, however many jobs another one has, and whatever their deadlines", () => {
    const queue = queueOf(...Array.from({ length: 400 }, (_, i) => job(batch, 2, i)));
    turn(queue, 2);
    queue.add(job(web, 2));
    expect(turn(queue, 2).id).toBe("web");
    expect(turn(queue, 2).id).toBe("batch");
  });

  it("gives each the same time while both have jobs, also with turns of other lengths", () => {
    const queue = queueOf(endless(web), ...Array.from({ length: 1_000 }, () => job(batch, 1)));
    const { web: webMs = 0, batch: batchMs = 0 } = timesOf(queue, 8, 450);
    expect(Math.abs(webMs - batchMs)).toBeLessThanOrEqual(8);
  });

  it("gives time in proportion to weights", () => {
    const queue = queueOf(endless(callerWith({ name: "web", weight: 3 })), endless(batch));
    const { web: webMs = 0, batch: batchMs = 0 } = timesOf(queue, 5, 400);
    expect(webMs / batchMs).toBeCloseTo(3, 1);
  });

  it("shares the time of a key among the callers behind it, so that more names do not get more", () => {
    const names = ["a", "b", "c", "d", "e"].map((behind) => callerWith({ name: "edge" }, behind));
    const times = timesOf(queueOf(endless(web), ...names.map(endless)), 5, 400);
    const { web: webMs = 0, ...others } = times;
    expect(webMs / 2_000).toBeCloseTo(1 / 2, 1);
    for (const ms of Object.values(others)) expect(ms / 2_000).toBeCloseTo(1 / 10, 1);
  });

  it("takes turns with callers who have a new name for each request", () => {
    for (const key of ["edge", "web"]) {
      const queue = queueOf(endless(web));
      const times: Record<string, number> = {};
      for (let i = 0; i < 400; i++) {
        // Ten of them wait at any time.
        while (queue.size < 11) queue.add(job(callerWith({ name: key }, `${i} ${queue.size}`), 5));
        const { id, ms } = turn(queue, 5);
        times[id] = (times[id] ?? 0) + ms;
      }
      // Behind another key, they have its half. Behind the same key, each of the eleven has a part.
      expect((times["web"] ?? 0) / 2_000).toBeCloseTo(key === "edge" ? 1 / 2 : 1 / 11, 1);
    }
  });

  it("takes a new weight while a key has jobs", () => {
    const queue = queueOf(endless(callerWith({ name: "web", weight: 10 })), endless(batch));
    timesOf(queue, 5, 50);
    queue.add(endless(callerWith({ name: "web", weight: 1 })));
    const { web: webMs = 0, batch: batchMs = 0 } = timesOf(queue, 5, 200);
    expect(webMs / batchMs).toBeCloseTo(1, 1);
  });

  it("saves up no turns for a caller who has sent nothing", () => {
    const queue = queueOf(endless(batch));
    timesOf(queue, 5, 100);
    queue.add(endless(web));
    const { web: webMs = 0, batch: batchMs = 0 } = timesOf(queue, 5, 100);
    expect(Math.abs(webMs - batchMs)).toBeLessThanOrEqual(5);
  });

  it("does not forget the time of a caller whose queue is empty for a moment", () => {
    const queue = queueOf(endless(batch), job(web, 40));
    turn(queue, 40);
    const first = turn(queue, 40);
    queue.add(job(web, 40));
    expect(new Set([first.id, turn(queue, 40).id])).toEqual(new Set(["web", "batch"]));
  });

  it("keeps the order of deadlines within a caller", () => {
    const queue = queueOf(job(web, 1, 30), job(web, 1, 10), job(web, 1), job(web, 1, 20));
    const order = Array.from({ length: 4 }, () => {
      const next = queue.first() as CallersJob;
      queue.remove(next);
      return next.dueAt;
    });
    expect(order).toEqual([10, 20, 30, undefined]);
  });

  it("leaves out callers whose jobs want no turn", () => {
    const queue = queueOf(job(web, 1), job(batch, 1));
    expect(queue.first(({ caller }) => caller === batch)?.caller).toBe(batch);
    expect(queue.first(() => false)).toBeUndefined();
  });
});

describe("the predicted wait", () => {
  it("is that of the caller's own jobs, and of what others have meanwhile", () => {
    const flooded = queueOf(...Array.from({ length: 50 }, () => job(batch, 2, 100)));
    turn(flooded, 2);
    expect(flooded.waitMs(job(web, 2, 100), 2)).toBe(0);
    expect(flooded.waitMs(job(web, 20, 100), 2)).toBe(17);
    expect(flooded.waitMs(job(batch, 2, 100), 2)).toBe(98);
    expect(flooded.delaysOthers(job(web, 2, 50), 0)).toBe(false);
  });

  const arbitraryJobs = fc.array(
    fc.record({
      name: fc.constantFrom("a", "b", "c"),
      leftMs: fc.integer({ min: 1, max: 30 }),
      dueAt: fc.integer({ min: 1, max: 300 }),
    }),
    { maxLength: 20 },
  );

  it("is right to a turn of each caller, if nobody else comes", () => {
    fc.assert(
      fc.property(arbitraryJobs, fc.integer({ min: 1, max: 30 }), fc.nat(8), (jobs, leftMs, before) => {
        const queue = queueOf(...jobs.map(({ name, ...rest }) => ({ ...rest, caller: callerWith({ name }) })));
        for (let i = 0; i < before && queue.size > 0; i++) turn(queue, 1);
        const mine = job(web, leftMs, 1_000);
        const predicted = queue.waitMs(mine, 1) + leftMs;
        queue.add(mine);
        let ms = 0;
        while (mine.leftMs > 0) ms += turn(queue, 1).ms;
        // Each of the three others can be a turn of 1 ms ahead or behind.
        expect(Math.abs(ms - predicted)).toBeLessThanOrEqual(3);
      }),
    );
  });
});

describe("whether a job delays others", () => {
  it("counts the time that other callers have meanwhile", () => {
    const alone = queueOf(job(web, 10, 40));
    expect(alone.delaysOthers(job(web, 15, 20), 0)).toBe(false);
    const shared = queueOf(job(web, 10, 40), job(batch, 100, 200));
    expect(shared.delaysOthers(job(web, 15, 20), 0)).toBe(true);
  });
});
