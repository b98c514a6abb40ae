import { afterEach, describe, expect, it, vi } from "vitest";
import { type DecisionLog, type LoggedDecision, logDecision } from "./observer.ts";

afterEach(() => void vi.restoreAllMocks());

const decision: LoggedDecision = {
  outcome: "region",
  reason: "edge-over-budget",
  isUnusual: true,
  texts: 2,
  basis: { budget: 50, region: 41.66666, hedge: true },
  elapsedMs: 43.21987,
  trace: { requestId: "r-1" },
};

/** Returns the logged lines. */
function logged(log: DecisionLog, changes: Partial<LoggedDecision> = {}): unknown[] {
  const lines = vi.spyOn(console, "log").mockReturnValue(undefined);
  logDecision(log, { ...decision, ...changes });
  return lines.mock.calls.map(([line]) => JSON.parse(line));
}

describe("logDecision", () => {
  it("writes one line of JSON, with times in tenths of a millisecond", () => {
    expect(logged("all")).toEqual([
      {
        "bert-edge": "region",
        reason: "edge-over-budget",
        texts: 2,
        ...{ budget: 50, region: 41.7, hedge: true, elapsedMs: 43.2 },
        requestId: "r-1",
      },
    ]);
  });

  it.each<[number, DecisionLog, boolean]>([
    [1, "all", true],
    [1, "all", false],
    [1, "unusual", true],
    [0, "unusual", false],
    [0, false, true],
  ])("writes %d lines when it logs %j and isUnusual is %j", (count, log, isUnusual) => {
    expect(logged(log, { isUnusual })).toHaveLength(count);
  });
});
