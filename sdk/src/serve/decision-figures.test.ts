import { describe, expect, it } from "vitest";
import { decisionFigures, formatDecision } from "./decision-figures.ts";
import type { Here, Situation } from "./routing/decide.ts";

const here: Here = {
  ...{ waitMs: 0, compute: { ms: 40, spreadMs: 5 }, engineMs: 40, calls: 1, cpuMs: 40, cpuLimitMs: 1_000 },
  ...{ delaysOthers: false, delaysFetches: false },
};
const situation: Situation = {
  ...{ remainingMs: undefined, elapsedErrorMs: 0, lostMs: 0, maxLateMs: 100, maxWaitMs: 1_000 },
  ...{ pin: undefined, here, region: "none" },
};
const figures = (changes: Partial<Situation>, budgetMs?: number) =>
  formatDecision(decisionFigures({ ...situation, ...changes }, { budgetMs, setBy: "caller" }));

describe("decisionFigures", () => {
  it("leaves out what is zero or false", () => {
    expect(figures({})).toBe("wait=0.0, compute=40.0, spread=5.0");
    const region = { ms: 60, spreadMs: 0, waitMs: 0 };
    expect(figures({ remainingMs: 50, region }, 50)).toBe(
      "budget=50.0, wait=0.0, compute=40.0, spread=5.0, region=60.0",
    );
  });

  it("has the errors and deviations on which the decision is based", () => {
    const changes = { remainingMs: 47.5, elapsedErrorMs: 1.25, lostMs: 4.5 };
    const region = { ms: 60, spreadMs: 7, waitMs: 20 };
    expect(figures({ ...changes, here: "loading", region }, 50)).toBe(
      "budget=50.0, used=2.5, arrival-error=1.3, lost=4.5, region=60.0, region-spread=7.0, region-wait=20.0",
    );
  });

  it("names a queued computation that is too short to ask a region for", () => {
    const short = { ...here, waitMs: 5, engineMs: 1 };
    const region = { ms: 60, spreadMs: 0, waitMs: 0 };
    expect(figures({ here: short, region })).toBe("wait=5.0, short, compute=40.0, spread=5.0, region=60.0");
    expect(figures({ here: short })).toBe("wait=5.0, compute=40.0, spread=5.0");
  });

  it.each<[string, Partial<Here>]>([
    ["several-calls", { calls: 4 }],
    ["others-late", { delaysOthers: true }],
    ["answers-late", { delaysFetches: true }],
    ["cpu=40.0, cpu-limit=10.0", { cpuLimitMs: 10 }],
  ])("names %s", (found, changes) => {
    expect(figures({ here: { ...here, ...changes } })).toBe(`wait=0.0, compute=40.0, spread=5.0, ${found}`);
  });

  it("says that the region is down, or that it does not count", () => {
    expect(figures({ here: "unsuitable", region: "down" })).toBe("region-down");
    const region = { ms: 60, spreadMs: 0, waitMs: 0 };
    expect(figures({ pin: "here", region })).toBe("pinned, wait=0.0, compute=40.0, spread=5.0");
    expect(figures({ pin: "region", here: "loading", region })).toBe("pinned, region=60.0");
  });
});
