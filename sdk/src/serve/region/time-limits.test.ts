import { describe, expect, it } from "vitest";
import { forwardedBudgetMs, patienceMs } from "./region-estimate.ts";

const TIMEOUT_MS = 10_000;

describe("patienceMs", () => {
  it.each<[string, number, number, number | undefined, number]>([
    ["the whole timeout without a budget", 50, 10, undefined, TIMEOUT_MS],
    ["the remaining budget", 50, 10, 1_000, 1_000],
    ["never more than the timeout for a large budget", 50, 10, 60_000, TIMEOUT_MS],
    ["four times the prediction with its spread when the budget is smaller", 100, 25, 200, 500],
    ["at least 100 ms", 1, 0, 5, 100],
    ["at least 100 ms when no budget is left", 1, 0, -50, 100],
    ["longer than the timeout for a long computation", 5_000, 1_000, undefined, 24_000],
    ["longer than the timeout for a long computation with a small budget", 5_000, 1_000, 20, 24_000],
  ])("is %s", (_, ms, spreadMs, remainingMs, expected) => {
    expect(patienceMs({ ms, spreadMs }, remainingMs, TIMEOUT_MS)).toBe(expected);
  });

  it("is a whole number, as Node requires", () => {
    expect(patienceMs({ ms: 50, spreadMs: 10 }, 1_000.2, TIMEOUT_MS)).toBe(1_001);
  });
});

describe("forwardedBudgetMs", () => {
  it("leaves out the time on the network", () => expect(forwardedBudgetMs(30, 100)).toBe(70));

  it.each([30, 10, -5])("is positive when %d ms remain and the network takes 30", (remainingMs) => {
    expect(forwardedBudgetMs(30, remainingMs)).toBe(0.1);
  });
});
