import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Decision, decide, type Situation } from "./decide.ts";

const ms = fc.double({ min: 0, max: 100_000, noNaN: true });
const remaining = fc.option(fc.double({ min: -1_000, max: 100_000, noNaN: true }), { nil: undefined });
const edge = fc.record({
  ready: fc.boolean(),
  predictedMs: fc.option(ms, { nil: undefined }),
  cpuLimitMs: ms,
});
const usableRegion = fc.record({ predictedMs: ms });
const region = fc.oneof(fc.constantFrom("none" as const, "down" as const), usableRegion);
const situation: fc.Arbitrary<Situation> = fc.record({ remainingMs: remaining, edge, region });
const warm = (changes: Partial<Situation["edge"]> = {}): Situation["edge"] => ({
  ready: true,
  predictedMs: 40,
  cpuLimitMs: 1_000,
  ...changes,
});

describe("decide", () => {
  it.each<[string, Situation, Decision]>([
    [
      "the only tier, without a region",
      { remainingMs: 1, edge: warm(), region: "none" },
      { tier: "edge", reason: "only-tier", predictedMs: 40 },
    ],
    [
      "the edge, when the region is down, even over budget",
      { remainingMs: 1, edge: warm(), region: "down" },
      { tier: "edge", reason: "region-down", predictedMs: 40 },
    ],
    [
      "the region, while the edge is cold, whatever the budget",
      {
        remainingMs: 1,
        edge: { ready: false, predictedMs: undefined, cpuLimitMs: 1_000 },
        region: { predictedMs: 90 },
      },
      { tier: "region", reason: "edge-cold", predictedMs: 90 },
    ],
    [
      "the region, when the edge would exceed its CPU limit, even without a budget",
      { remainingMs: undefined, edge: warm({ cpuLimitMs: 39 }), region: { predictedMs: 90 } },
      { tier: "region", reason: "edge-cpu-limit", predictedMs: 90 },
    ],
    [
      "the edge, without a budget",
      { remainingMs: undefined, edge: warm(), region: { predictedMs: 1 } },
      { tier: "edge", reason: "no-budget", predictedMs: 40 },
    ],
    [
      "the edge, when it is exactly within the budget, although the region is faster",
      { remainingMs: 40, edge: warm(), region: { predictedMs: 1 } },
      { tier: "edge", reason: "within-budget", predictedMs: 40 },
    ],
    [
      "the region, when only it is exactly within the budget",
      { remainingMs: 39, edge: warm(), region: { predictedMs: 39 } },
      { tier: "region", reason: "edge-over-budget", predictedMs: 39 },
    ],
    [
      "the edge, when both are over budget and it is no slower",
      { remainingMs: 39, edge: warm(), region: { predictedMs: 40 } },
      { tier: "edge", reason: "over-budget", predictedMs: 40 },
    ],
    [
      "the region, when both are over budget and it is faster",
      { remainingMs: 5, edge: warm(), region: { predictedMs: 30 } },
      { tier: "region", reason: "over-budget", predictedMs: 30 },
    ],
    [
      "the edge, while its cost is unknown",
      { remainingMs: 5, edge: warm({ predictedMs: undefined }), region: { predictedMs: 1 } },
      { tier: "edge", reason: "within-budget", predictedMs: undefined },
    ],
  ])("chooses %s", (_, given, expected) => {
    expect(decide(given)).toEqual(expected);
  });

  it("never chooses a missing or failed region", () => {
    fc.assert(
      fc.property(remaining, edge, fc.constantFrom("none" as const, "down" as const), (remainingMs, edge, region) => {
        expect(decide({ remainingMs, edge, region }).tier).toBe("edge");
      }),
    );
  });

  it("chooses a warm edge within the budget and the CPU limit, however fast the region is", () => {
    fc.assert(
      fc.property(ms, ms, ms, region, (predictedMs, slack, cpuSlack, region) => {
        const edge = { ready: true, predictedMs, cpuLimitMs: predictedMs + cpuSlack };
        expect(decide({ remainingMs: predictedMs + slack, edge, region }).tier).toBe("edge");
      }),
    );
  });

  it("chooses the faster tier when both are over budget", () => {
    fc.assert(
      fc.property(ms, ms, fc.double({ min: -1_000, max: 100_000, noNaN: true }), (edgeMs, regionMs, remainingMs) => {
        fc.pre(remainingMs < edgeMs && remainingMs < regionMs);
        const decision = decide({
          remainingMs,
          edge: { ready: true, predictedMs: edgeMs, cpuLimitMs: edgeMs },
          region: { predictedMs: regionMs },
        });
        expect(decision).toMatchObject({ reason: "over-budget", predictedMs: Math.min(edgeMs, regionMs) });
      }),
    );
  });

  it("gives a budget reason only for a tier that is predicted to be in time", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const { reason, predictedMs } = decide(given);
        fc.pre(reason === "within-budget" || reason === "edge-over-budget");
        expect(predictedMs ?? 0).toBeLessThanOrEqual(given.remainingMs as number);
      }),
    );
  });

  it("is monotone: with more budget, a request that the edge answers in time stays at the edge", () => {
    fc.assert(
      fc.property(situation, ms, (given, more) => {
        fc.pre(given.remainingMs !== undefined && decide(given).reason === "within-budget");
        expect(decide({ ...given, remainingMs: (given.remainingMs as number) + more })).toEqual(decide(given));
      }),
    );
  });

  it("is monotone: with more budget, an answer is never later relative to its budget", () => {
    const late = ({ predictedMs }: Decision, remainingMs: number) => Math.max(0, (predictedMs ?? 0) - remainingMs);
    fc.assert(
      fc.property(edge, region, ms, ms, (edge, region, remainingMs, more) => {
        const tight = decide({ remainingMs, edge, region });
        const loose = decide({ remainingMs: remainingMs + more, edge, region });
        expect(late(loose, remainingMs + more)).toBeLessThanOrEqual(late(tight, remainingMs));
      }),
    );
  });

  it("reports the predicted time of the chosen tier", () => {
    fc.assert(
      fc.property(situation, (given) => {
        const { tier, predictedMs } = decide(given);
        const region = typeof given.region === "object" ? given.region.predictedMs : undefined;
        expect(predictedMs).toBe(tier === "edge" ? given.edge.predictedMs : region);
      }),
    );
  });
});

it("reports region-down only when the region would have been chosen", () => {
  const edge = { ready: true, predictedMs: 10, cpuLimitMs: 30_000 };
  const reason = (remainingMs: number | undefined) => decide({ remainingMs, edge, region: "down" }).reason;
  expect([undefined, 20, 5].map(reason)).toEqual(["no-budget", "within-budget", "region-down"]);
});
