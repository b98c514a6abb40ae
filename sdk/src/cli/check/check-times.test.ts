import { expect, it } from "vitest";
import { BertEdgeClientError } from "../../client/errors.ts";
import type { Reason, Tier } from "../../serve/contract/headers.ts";
import { checkBudget } from "./check-times.ts";
import type { Probe, ProbeAnswer } from "./probe.ts";

interface Times {
  edge: number;
  region: number;
}

const answer = (tier: Tier, reason: Reason, predictedMs: number): ProbeAnswer => ({
  vectors: [],
  tier,
  reason,
  model: "tiny@1",
  provider: undefined,
  predictedMs,
  computeMs: undefined,
  ms: predictedMs,
});

/** Answers pinned requests at the predicted times, and the requests with a budget as `withBudget` says, in order. */
function probe(predicted: (texts: number) => Times, ...withBudget: (ProbeAnswer | BertEdgeClientError)[]): Probe {
  return {
    url: "http://edge.test",
    ready: async () => undefined,
    async ask(texts, { tier } = {}) {
      if (tier) return answer(tier, "pinned", predicted(texts.length)[tier]);
      return withBudget.shift() ?? answer("edge", "within-budget", 1);
    },
  };
}

const regionIsFaster = () => ({ edge: 100, region: 10 });
const check = (asked: Probe) => checkBudget(asked, "a text");

it("is ok when the region answers within a budget between the times of both tiers", async () => {
  const times = (texts: number) => ({ edge: 10 * texts, region: 30 });
  expect(await check(probe(times, answer("region", "edge-over-budget", 30)))).toMatchObject({
    level: "ok",
    what: "The region answers 4 texts within 35 ms (predicted: edge 40 ms, region 30 ms).",
    figures: { texts: 4, budgetMs: 35, edgeMs: 40, regionMs: 30 },
  });
});

it("tries again when the times have changed in the meantime", async () => {
  const overloaded = new BertEdgeClientError("Busy.", { code: "overloaded", status: 503 });
  const ok = answer("region", "edge-over-budget", 10);
  const late = answer("edge", "region-down", 100);
  expect((await check(probe(regionIsFaster, overloaded, answer("edge", "within-budget", 9), late, ok))).level).toBe(
    "ok",
  );
});

it("blames nobody when no try is a proof", async () => {
  expect(await check(probe(regionIsFaster))).toMatchObject({
    level: "note",
    what: expect.stringContaining("change: within-budget, within-budget, within-budget, within-budget."),
  });
  expect((await check(probe(() => ({ edge: 1, region: 10 })))).level).toBe("note");
});

it("is broken when the edge answers instead of the region", async () => {
  expect(await check(probe(regionIsFaster, answer("edge", "region-down", 100)))).toMatchObject({
    level: "broken",
    what: "Only the region is expected to be in time, but it does not answer: region-down.",
  });
});
