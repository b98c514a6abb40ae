import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decisionFigures, formatDecision } from "../serve/decision-figures.ts";
import { defaultLimits } from "../serve/limits.ts";
import { maxLateMs } from "../serve/routing/deadline.ts";
import { decide, type Situation } from "../serve/routing/decide.ts";
import { explainDecision, parseDecision } from "./explain-decision.ts";

const explained = (header: string): string => explainDecision(parseDecision(header) ?? {});

describe("explainDecision", () => {
  it.each([
    [
      "budget=60.0, default-budget, wait=0.0, compute=228.3, spread=55.2, region=30.0, region-spread=4.0",
      "60 ms of the default budget of 60 ms were left; the edge needs 228 ms, of which 0.0 ms are its queue, and is certain to have answered after 394 ms; the region needs 30 ms, and is certain to have answered after 42 ms; so the region answers (edge-over-budget).",
    ],
    [
      "x-bert-edge-decision: budget=60.0, wait=0.0, compute=371.5, spread=89.6, cpu=94.0, cpu-limit=10.0, several-calls",
      "60 ms of the budget of 60 ms were left; the edge needs 372 ms, of which 0.0 ms are its queue, and is certain to have answered after 640 ms; that is 94 ms of CPU time, and 10 ms are allowed; there is no region; so nobody answers (request_too_costly).",
    ],
    [
      "wait=0.0, pages=40.0, page-reads=40.0, page-limit=32.0, compute=10.0, spread=0.0",
      "There was no budget; the edge needs 50 ms, of which 0.0 ms are its queue, and is certain to have answered after 50 ms; 40 ms of that are for reading rows of the vocabulary; they are 40 reads, and 32 are allowed; there is no region; so nobody answers (too_many_page_reads).",
    ],
    [
      "pinned, wait=0.0, compute=5.0, spread=1.0",
      expect.stringMatching(/^There was no budget; .*pinned, .*so the edge answers \(pinned, or tier_missing .*\)\.$/),
    ],
    [
      "region-refused, pinned, wait=0.0, compute=5.0, spread=1.0, region=9.0",
      expect.stringMatching(/so nobody answers \(overloaded\)\.$/),
    ],
  ])("explains %s", (header, sentence) => expect(explained(header)).toEqual(sentence));

  it("comes to the same decision from the figures as the deployment", () => {
    const ms = fc.integer({ min: 0, max: 300 });
    const situation: fc.Arbitrary<[Situation, number | undefined]> = fc
      .record({
        budgetMs: fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined }),
        used: ms,
        elapsedErrorMs: ms,
        lostMs: ms,
        pin: fc.constantFrom(undefined, "here" as const, "region" as const),
        here: fc.record({
          waitMs: ms,
          isNext: fc.boolean(),
          compute: fc.record({ ms: fc.integer({ min: 1, max: 300 }), spreadMs: ms }),
          delaysOthers: fc.boolean(),
          delaysFetches: fc.boolean(),
          engineMs: fc.integer({ min: 0, max: 300 }),
          calls: fc.integer({ min: 1, max: 3 }),
          cpuMs: ms,
          cpuLimitMs: ms,
          pages: fc.option(fc.record({ reads: fc.integer({ min: 1, max: 40 }), maxReads: fc.constant(32), ms }), {
            nil: undefined,
          }),
        }),
        region: fc.oneof(
          fc.constantFrom("none" as const, "down" as const),
          fc.record({ ms: fc.integer({ min: 1, max: 300 }), spreadMs: ms, waitMs: ms }),
        ),
      })
      .map(({ budgetMs, used, elapsedErrorMs, lostMs, ...rest }) => [
        {
          ...rest,
          remainingMs: budgetMs === undefined ? undefined : budgetMs - used,
          // Without a budget, these have no effect.
          elapsedErrorMs: budgetMs === undefined ? 0 : elapsedErrorMs,
          lostMs: budgetMs === undefined ? 0 : lostMs,
          maxLateMs: maxLateMs(budgetMs),
          maxWaitMs: defaultLimits.maxWaitMs,
        },
        budgetMs,
      ]);
    fc.assert(
      fc.property(situation, ([given, budgetMs]) => {
        const decision = decide(given);
        const sentence = explained(formatDecision(decisionFigures(given, { budgetMs, setBy: "caller" })));
        // The figures of requests that are pinned to the edge, and to a region that is not there, are the same.
        const isUnknown = given.pin === "here" || (given.pin === "region" && given.region === "none");
        const expected = "refusal" in decision ? decision.refusal : decision.hedge ? "both are asked" : decision.reason;
        const end = sentence.slice(sentence.lastIndexOf("; so "));
        expect(
          isUnknown ? [expected, "tier_missing"].some((each) => end.includes(each)) : end.includes(expected),
          end,
        ).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("parseDecision", () => {
  it.each([
    "edge-over-budget",
    "hedge",
    "",
    "budget=1, moon=2",
    "budget=-1",
    "budget=1,,wait=2",
    "constructor=5",
    "budget, wait=3",
    "hedge=1, wait=3",
  ])("refuses %j", (text) => {
    expect(parseDecision(text)).toBeUndefined();
  });
});
