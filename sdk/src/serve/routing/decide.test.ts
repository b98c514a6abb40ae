import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Decision, decide, type Here, type Situation } from "./decide.ts";

const ms = fc.double({ min: 0, max: 100_000, noNaN: true });
const estimate = fc.record({
  ms: fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 100_000, noNaN: true })),
  spreadMs: ms,
});
const answer = estimate.chain((each) =>
  fc.double({ min: 0, max: each.ms, noNaN: true }).map((waitMs) => ({ ...each, waitMs })),
);
const computing: fc.Arbitrary<Here> = fc.record({
  waitMs: fc.oneof(fc.constant(0), ms),
  isNext: fc.boolean(),
  compute: estimate,
  delaysOthers: fc.boolean(),
  delaysFetches: fc.boolean(),
  engineMs: ms,
  calls: fc.integer({ min: 1, max: 3 }),
  cpuMs: ms,
  cpuLimitMs: ms,
  pages: fc.option(fc.record({ reads: fc.integer({ min: 1, max: 40 }), maxReads: fc.constant(32), ms }), {
    nil: undefined,
  }),
});
const situation: fc.Arbitrary<Situation> = fc.record({
  remainingMs: fc.option(fc.double({ min: -1_000, max: 100_000, noNaN: true }), { nil: undefined }),
  elapsedErrorMs: ms,
  lostMs: ms,
  maxLateMs: ms,
  maxWaitMs: ms,
  pin: fc.constantFrom(undefined, "here" as const, "region" as const),
  here: fc.oneof({ weight: 4, arbitrary: computing }, fc.constantFrom("loading" as const, "unsuitable" as const)),
  region: fc.oneof({ weight: 3, arbitrary: answer }, fc.constantFrom("none" as const, "down" as const)),
});

/** A warm deployment without a queue, which needs 40 ms. */
const here = (changes: Partial<Here> = {}): Here => ({
  waitMs: 0,
  compute: { ms: 40, spreadMs: 5 },
  delaysOthers: false,
  delaysFetches: false,
  engineMs: 40,
  calls: 1,
  cpuMs: 40,
  cpuLimitMs: 1_000,
  ...changes,
});
const busy = here({ waitMs: 100 });
const region = (ms: number, spreadMs = 0, waitMs = 0) => ({ ms, spreadMs, waitMs });
const given = (changes: Partial<Situation>): Situation => ({
  remainingMs: undefined,
  elapsedErrorMs: 0,
  lostMs: 0,
  maxLateMs: 100,
  maxWaitMs: 1_000,
  pin: undefined,
  here: here(),
  region: region(60),
  ...changes,
});

/** Writes a decision in one line. */
function inWords(decision: Decision): string {
  if ("refusal" in decision) return decision.refusal;
  return [decision.tier, decision.reason, ...(decision.hedge ? ["hedge"] : [])].join(" ");
}

describe("decide", () => {
  it.each<[string, string, Partial<Situation>]>([
    ["without a budget", "here no-budget", {}],
    ["without a budget or a region", "here only-tier", { region: "none" }],
    [
      "when the answer is certain to be in time, although the region is faster",
      "here within-budget",
      { remainingMs: 55, region: region(1) },
    ],
    [
      "when it may be late, and asks the region too",
      "here within-budget hedge",
      { remainingMs: 49, here: here({ calls: 2 }), region: region(30) },
    ],
    ["when it may be late, and the region would be late", "here within-budget", { remainingMs: 49 }],
    [
      "when both may be late, and it is likelier to be in time",
      "here within-budget",
      { remainingMs: 49, region: region(45, 10) },
    ],
    [
      "when it is late only if it arrived early during a computation",
      "here within-budget",
      { remainingMs: 41, elapsedErrorMs: 2, lostMs: 4, region: "down" },
    ],
    ["when both are late and it is no slower", "here over-budget", { remainingMs: 39, region: region(40) }],
    ["when the budget is just over, but nobody else waits", "here over-budget", { remainingMs: -99 }],
    ["when it is late and the region is down", "here region-down", { remainingMs: 39, region: "down" }],
    ["when it is late and alone", "here only-tier", { remainingMs: 39, region: "none" }],
    ["while the model loads, without a region", "here only-tier", { here: "loading", region: "none" }],
    ["while the model loads, and the region is down", "here region-down", { here: "loading", region: "down" }],
    [
      "when it is pinned, although only the region is in time",
      "here pinned",
      { pin: "here", remainingMs: 39, region: region(1) },
    ],
    [
      "behind a queue that leaves enough time",
      "here within-budget",
      { here: busy, remainingMs: 193, region: region(117) },
    ],
    [
      "behind a queue, without a budget, when the region is not much faster",
      "here no-budget",
      { here: busy, region: region(117) },
    ],
  ])("answers here %s", (_, expected, changes) => {
    expect(inWords(decide(given(changes)))).toBe(expected);
  });

  it.each<[string, string, Partial<Situation>]>([
    ["when only it is in time", "region edge-over-budget", { remainingMs: 39, region: region(39) }],
    [
      "when both may be late, and it is likelier",
      "region edge-over-budget",
      { remainingMs: 49, region: region(42, 3) },
    ],
    ["when only it is in time, because of a queue here", "region edge-over-budget", { here: busy, remainingMs: 60 }],
    [
      "when an answer here would make others late",
      "region edge-over-budget",
      { here: here({ delaysOthers: true }), remainingMs: 80 },
    ],
    ["when both are late and it is faster", "region over-budget", { remainingMs: 5, region: region(30) }],
    ["while the model loads, whatever the budget", "region edge-cold", { remainingMs: 1, here: "loading" }],
    [
      "when this deployment would exceed its CPU limit, even without a budget",
      "region edge-cpu-limit",
      { here: here({ cpuLimitMs: 39 }) },
    ],
    [
      "when this deployment would read too many pages, even without a budget",
      "region edge-pages",
      { here: here({ pages: { reads: 33, maxReads: 32, ms: 0 } }) },
    ],
    [
      "when only it is in time, because this deployment reads pages first",
      "region edge-over-budget",
      { here: here({ pages: { reads: 1, maxReads: 32, ms: 30 } }), remainingMs: 80 },
    ],
    ["when this deployment has a queue and it is clearly faster, without a budget", "region edge-busy", { here: busy }],
    [
      "not when the computation takes no longer than asking is worth",
      "here no-budget",
      { here: { ...busy, engineMs: 1.2 } },
    ],
    [
      "when this deployment has a queue and it is much faster, although this deployment is in time",
      "region edge-busy",
      { here: busy, remainingMs: 193 },
    ],
    ["when it is pinned, although this deployment is in time", "region pinned", { pin: "region", remainingMs: 100 }],
    ["when this deployment lacks the precision", "region precision", { here: "unsuitable" }],
    [
      "when it may be late, and this deployment has a queue",
      "region edge-over-budget",
      { here: busy, remainingMs: 60, region: region(50, 10, 1) },
    ],
    [
      "when it may be late but has no queue, and this deployment has one",
      "region edge-over-budget",
      { here: busy, remainingMs: 60, region: region(50, 100) },
    ],
  ])("asks the region %s", (_, expected, changes) => {
    expect(inWords(decide(given(changes)))).toBe(expected);
  });

  it.each<[string, string, Partial<Situation>]>([
    ["whose budget has been over for long", "budget_exceeded", { remainingMs: -100 }],
    ["that no queue lets through in time", "overloaded", { here: busy, remainingMs: 59 }],
    ["that may be in time, behind a queue", "overloaded", { here: busy, remainingMs: 192, region: "down" }],
    [
      "that may be in time, because its time of arrival is uncertain",
      "overloaded",
      { here: busy, remainingMs: 193, elapsedErrorMs: 1, region: "down" },
    ],
    [
      "that the region would probably answer too late, because of its queue",
      "overloaded",
      { here: busy, region: region(50, 11, 1), remainingMs: 60 },
    ],
    [
      "that would make others late, without a region",
      "overloaded",
      { here: here({ delaysOthers: true }), remainingMs: 100, region: "none" },
    ],
    ["without a budget, behind a very long queue", "overloaded", { here: here({ waitMs: 1_001 }), region: "none" }],
    [
      "that is late anyway, behind a queue",
      "overloaded",
      { here: here({ waitMs: 41 }), remainingMs: 39, region: "down" },
    ],
    [
      "that is late because others were computed before it",
      "overloaded",
      { remainingMs: 30, lostMs: 10, region: "down" },
    ],
    [
      "that would make an answer of the region late",
      "overloaded",
      { here: here({ delaysFetches: true }), remainingMs: 100, region: "down" },
    ],
    [
      "that is in time only if it arrived late during a computation",
      "overloaded",
      { remainingMs: 39, elapsedErrorMs: 2, lostMs: 4, region: "down" },
    ],
    [
      "that is late anyway, and would make an answer of the region late",
      "overloaded",
      { here: here({ delaysFetches: true }), remainingMs: 39, region: region(41) },
    ],
    [
      "that only the region could answer in time, if it had no queue",
      "overloaded",
      { remainingMs: 39, region: region(40, 0, 2) },
    ],
    [
      "that is late anyway, behind a long queue of the region",
      "overloaded",
      { remainingMs: 5, region: region(30, 0, 16) },
    ],
    [
      "beyond the CPU limit, without a region",
      "request_too_costly",
      { here: here({ cpuLimitMs: 39 }), region: "none" },
    ],
    [
      "with too many pages, without a region",
      "too_many_page_reads",
      { here: here({ pages: { reads: 33, maxReads: 32, ms: 0 } }), region: "none" },
    ],
    [
      "beyond the CPU limit, while the region is down",
      "overloaded",
      { here: here({ cpuLimitMs: 39 }), region: "down" },
    ],
    ["pinned to a region that is down", "tier_unavailable", { pin: "region", region: "down" }],
    ["pinned to a region that does not exist", "tier_missing", { pin: "region", region: "none" }],
    ["for a precision that nobody has", "precision_unavailable", { here: "unsuitable", region: "none" }],
    [
      "pinned here, for a precision that only the region has",
      "precision_unavailable",
      { here: "unsuitable", pin: "here" },
    ],
  ])("refuses a request %s", (_, expected, changes) => {
    expect(inWords(decide(given(changes)))).toBe(expected);
  });

  it("never asks a region that does not exist, is down, or is excluded by a pin", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const decision = decide(given);
        if ("refusal" in decision || (decision.tier === "here" && !decision.hedge)) return;
        expect(given.region).toBeTypeOf("object");
        expect(given.pin).not.toBe("here");
      }),
    );
  });

  it("never computes here what is pinned to the region, too coarse, or beyond the CPU limit", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const decision = decide(given);
        if ("refusal" in decision || decision.tier === "region") return;
        expect(given.pin).not.toBe("region");
        expect(given.here).not.toBe("unsuitable");
        if (typeof given.here === "object") expect(given.here.cpuMs).toBeLessThanOrEqual(given.here.cpuLimitMs);
      }),
    );
  });

  it("refuses a caller's request that may be late behind its own, and not one that only waits for requests of others", () => {
    const uncertain = { waitMs: 20, compute: { ms: 10, spreadMs: 20 } };
    const decided = (isNext: boolean) => decide(given({ here: here({ ...uncertain, isNext }), remainingMs: 50 }));
    expect(decided(false)).toMatchObject({ refusal: "overloaded" });
    expect(decided(true)).toMatchObject({ tier: "here", reason: "within-budget" });
  });

  it("never lets a request into a queue behind which it would be late", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const decision = decide(given);
        if ("refusal" in decision || decision.tier === "region" || typeof given.here !== "object") return;
        const { waitMs, compute } = given.here;
        const { remainingMs } = given;
        if (remainingMs === undefined || waitMs === 0 || compute.ms > remainingMs) return;
        expect(waitMs + compute.ms).toBeLessThanOrEqual(remainingMs);
      }),
    );
  });

  it("answers every request that this deployment can certainly answer in time without hurting others", () => {
    fc.assert(
      fc.property(situation, computing, (given, here) => {
        const { waitMs, pages, compute } = here;
        const totalMs = waitMs + (pages?.ms ?? 0) + compute.ms;
        const spreadMs = compute.ms > 0 ? compute.spreadMs * (totalMs / compute.ms) : 0;
        const remainingMs = (totalMs + 3 * spreadMs + given.elapsedErrorMs) * 1.000001;
        const idle = { ...here, waitMs: 0, delaysOthers: false, delaysFetches: false, cpuLimitMs: here.cpuMs };
        if (pages && pages.reads > pages.maxReads) return;
        expect(decide({ ...given, pin: undefined, here: idle, remainingMs })).toMatchObject({
          tier: "here",
          hedge: false,
        });
      }),
    );
  });

  it("asks the region at the same time only when its answer is expected within the budget", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const decision = decide(given);
        if ("refusal" in decision || !decision.hedge || typeof given.region !== "object") return;
        expect(given.region.ms).toBeLessThanOrEqual(given.remainingMs as number);
      }),
    );
  });

  it("names a time for the retry of an overload that is not negative", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const decision = decide(given);
        if (!("refusal" in decision) || decision.refusal !== "overloaded") return;
        expect(decision.retryAfterMs).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
