import { describe, expect, it } from "vitest";
import type { Request } from "./request.ts";
import { budgets, workload } from "./workload.ts";

const REQUESTS = 50_000;

/** Deviation of a share or of a mean of 50,000 requests, in standard deviations: less than one run in 10⁶ has more. */
const SIGMAS = 5;

const drawAll = (options: Parameters<typeof workload>[0]): Request[] => {
  const draw = workload(options);
  return Array.from({ length: REQUESTS }, draw);
};
const expectShare = (requests: readonly Request[], of: (request: Request) => boolean, share: number) => {
  const found = requests.filter(of).length / requests.length;
  const deviation = Math.sqrt((share * (1 - share)) / requests.length);
  expect(Math.abs(found - share)).toBeLessThan(SIGMAS * deviation);
};

describe("workload", () => {
  const requests = drawAll({ seed: 1, rates: [700, 200, 100] });

  it("draws the same requests for the same seed", () => {
    expect(drawAll({ seed: 1, rates: [700, 200, 100] }).slice(-500)).toEqual(requests.slice(-500));
    expect(drawAll({ seed: 2, rates: [700, 200, 100] })[0]).not.toEqual(requests[0]);
  });

  it("draws lengths with a median of 18 and a 95th percentile of 260 tokens, up to 512", () => {
    // Half of the texts of 18 tokens were rounded up, and half were rounded down.
    expectShare(
      requests,
      ({ tokens }) => tokens < 18,
      0.5 - (0.5 * requests.filter(({ tokens }) => tokens === 18).length) / REQUESTS,
    );
    expectShare(requests, ({ tokens }) => tokens > 260, 0.05);
    expect(Math.max(...requests.map(({ tokens }) => tokens))).toBe(512);
  });

  it("draws all budgets equally often, and points by their rates", () => {
    for (const budget of budgets) expectShare(requests, ({ budgetMs }) => budgetMs === budget, 1 / budgets.length);
    for (const [point, share] of [0.7, 0.2, 0.1].entries())
      expectShare(requests, (request) => request.point === point, share);
  });

  it("draws as many requests per second as the rates say, and more of them in a crowd", () => {
    const crowd = { from: 10_000, to: 20_000, factor: 3, points: new Set([2]) };
    const crowded = drawAll({ seed: 1, rates: [700, 200, 100], crowd });
    const count = (from: number, point: number) =>
      crowded.filter((request) => request.at >= from && request.at < from + 10_000 && request.point === point).length;
    for (const [from, point, expected] of [
      [0, 0, 7_000],
      [0, 2, 1_000],
      [10_000, 0, 7_000],
      [10_000, 2, 3_000],
      [20_000, 2, 1_000],
    ] as const) {
      expect(Math.abs(count(from, point) - expected)).toBeLessThan(SIGMAS * Math.sqrt(expected));
    }
  });
});
