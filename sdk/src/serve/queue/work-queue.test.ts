import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BACKGROUND_SHARE, type Job, workQueue } from "./work-queue.ts";

interface Named extends Job {
  readonly name: string;
}
const job = (name: string, dueAt: number | undefined, leftMs: number): Named => ({ name, dueAt, leftMs });

function queueOf(...jobs: Named[]) {
  const queue = workQueue<Named>();
  for (const each of jobs) queue.add(each);
  return queue;
}

/** Gives turns of `turnMs` until the queue is empty. Returns the end of each job's last turn, by name. */
function drain(queue: ReturnType<typeof queueOf>, turnMs: number): Map<string, number> {
  const ends = new Map<string, number>();
  for (let now = 0; queue.size > 0; ) {
    const next = queue.first() as Named;
    const ms = Math.min(turnMs, next.leftMs);
    now += ms;
    queue.took(next, ms);
    if (next.leftMs > 0) continue;
    queue.remove(next);
    ends.set(next.name, now);
  }
  return ends;
}

/** Names of the jobs in the order of their turns of `turnMs`, up to `turns` of them. */
function turnsOf(queue: ReturnType<typeof queueOf>, turnMs: number, turns: number): string[] {
  return Array.from({ length: turns }, () => {
    const next = queue.first() as Named;
    queue.took(next, turnMs);
    return next.name;
  });
}

const due = fc.array(fc.record({ dueAt: fc.integer({ min: 1, max: 500 }), leftMs: fc.integer({ min: 1, max: 40 }) }), {
  maxLength: 12,
});
const background = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 6 });

describe("the order of turns", () => {
  it("is that of the deadlines, and of arrival for equal deadlines", () => {
    const queue = queueOf(job("late", 30, 1), job("first", 10, 1), job("second", 10, 1), job("middle", 20, 1));
    expect([...drain(queue, 1).keys()]).toEqual(["first", "second", "middle", "late"]);
  });

  it("alternates between jobs without a deadline, so that a short one does not wait for a long one", () => {
    const queue = queueOf(job("long", undefined, 100), job("short", undefined, 2));
    expect(turnsOf(queue, 1, 4)).toEqual(["long", "short", "long", "short"]);
  });

  it("lets a job with a deadline go first", () => {
    const queue = queueOf(job("background", undefined, 10), job("due", 10, 1));
    expect(queue.first()?.name).toBe("due");
  });

  it("gives jobs without a deadline their share of the time, not more, while others wait", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), (dueTurn, backgroundTurn) => {
        const queue = queueOf(job("background", undefined, 1e9), job("due", 1, 1e9));
        let [backgroundMs, totalMs] = [0, 0];
        while (totalMs < 20_000) {
          const next = queue.first() as Named;
          const ms = next.name === "due" ? dueTurn : backgroundTurn;
          queue.took(next, ms);
          totalMs += ms;
          if (next.name === "background") backgroundMs += ms;
        }
        expect(backgroundMs / totalMs).toBeCloseTo(BACKGROUND_SHARE, 1);
      }),
    );
  });

  it("does not save up a share for times without waiting jobs of this kind", () => {
    const queue = queueOf(job("due", 1, 1e9));
    turnsOf(queue, 10, 100);
    queue.add(job("background", undefined, 1e9));
    expect(turnsOf(queue, 10, 8).filter((name) => name === "background").length).toBeLessThanOrEqual(1);
  });

  it("finishes all jobs in time whenever all deadlines can be kept", () => {
    fc.assert(
      fc.property(due, (jobs) => {
        const named = jobs.map(({ dueAt, leftMs }, i) => job(`${i}`, dueAt, leftMs));
        let work = 0;
        const feasible = [...named]
          .sort((a, b) => (a.dueAt as number) - (b.dueAt as number))
          .every(({ dueAt, leftMs }) => {
            work += leftMs;
            return work <= (dueAt as number);
          });
        fc.pre(feasible);
        const ends = drain(queueOf(...named), 5);
        for (const { name, dueAt } of named) expect(ends.get(name)).toBeLessThanOrEqual(dueAt as number);
      }),
    );
  });

  it("ends every job, whatever the queue holds", () => {
    fc.assert(
      fc.property(due, background, (jobs, others) => {
        const all = [
          ...jobs.map(({ dueAt, leftMs }, i) => job(`${i}`, dueAt, leftMs)),
          ...others.map((leftMs, i) => job(`b${i}`, undefined, leftMs)),
        ];
        expect(drain(queueOf(...all), 7).size).toBe(all.length);
      }),
    );
  });
});

describe("waitMs", () => {
  it("is 0 in an empty queue", () => {
    expect(workQueue().waitMs(job("new", 1, 5))).toBe(0);
    expect(workQueue().waitMs(job("new", undefined, 5))).toBe(0);
  });

  it("counts the work with an earlier deadline only", () => {
    const queue = queueOf(job("earlier", 10, 3), job("later", 30, 100));
    expect(queue.waitMs(job("new", 20, 5))).toBe(3);
  });

  it("is exact for jobs with deadlines", () => {
    fc.assert(
      fc.property(due, fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 40 }), (jobs, dueAt, leftMs) => {
        const queue = queueOf(...jobs.map((each, i) => job(`${i}`, each.dueAt, each.leftMs)));
        const own = job("new", dueAt, leftMs);
        const waitMs = queue.waitMs(own);
        queue.add(own);
        expect(drain(queue, 5).get("new")).toBeCloseTo(waitMs + leftMs, 6);
      }),
    );
  });

  it("is right within a turn of each job, for jobs without a deadline too", () => {
    const turnMs = 1;
    fc.assert(
      fc.property(due, background, fc.integer({ min: 1, max: 40 }), (jobs, others, leftMs) => {
        const all = [
          ...jobs.map((each, i) => job(`${i}`, each.dueAt, each.leftMs)),
          ...others.map((ms, i) => job(`b${i}`, undefined, ms)),
        ];
        const queue = queueOf(...all);
        const own = job("new", undefined, leftMs);
        const waitMs = queue.waitMs(own);
        queue.add(own);
        const end = drain(queue, turnMs).get("new") as number;
        const tolerance = (all.length + 1) * turnMs + turnMs / BACKGROUND_SHARE;
        expect(Math.abs(end - waitMs - leftMs)).toBeLessThanOrEqual(tolerance);
      }),
    );
  });
});

describe("delaysOthers", () => {
  it("is true when a job with a later deadline would miss it", () => {
    const queue = queueOf(job("later", 20, 10));
    expect(queue.delaysOthers(job("new", 15, 10), 0)).toBe(false);
    expect(queue.delaysOthers(job("new", 15, 11), 0)).toBe(true);
    expect(queue.delaysOthers(job("new", 15, 1), 10)).toBe(true);
  });

  it("is false for jobs that go last, and when the others are late anyway", () => {
    const queue = queueOf(job("late", 5, 10));
    expect(queue.delaysOthers(job("new", 6, 100), 0)).toBe(false);
    expect(queue.delaysOthers(job("new", 1, 100), 0)).toBe(false);
    expect(queue.delaysOthers(job("new", undefined, 100), 0)).toBe(false);
  });

  it("keeps every admitted job in time, together with its own deadline", () => {
    fc.assert(
      fc.property(due, (jobs) => {
        const queue = queueOf();
        const admitted: Named[] = [];
        jobs.forEach((each, i) => {
          const own = job(`${i}`, each.dueAt, each.leftMs);
          const fits = queue.waitMs(own) + own.leftMs <= each.dueAt;
          if (!fits || queue.delaysOthers(own, 0)) return;
          queue.add(own);
          admitted.push(own);
        });
        const ends = drain(queue, 3);
        for (const { name, dueAt } of admitted) expect(ends.get(name)).toBeLessThanOrEqual(dueAt as number);
      }),
    );
  });
});
