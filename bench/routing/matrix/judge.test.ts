import { expect, it } from "vitest";
import type { LoadSummary } from "../load/summarize.ts";
import { checksOf, judge, type MeasuredPoint, type Mode } from "./judge.ts";

const summary = (goodput: number, changes: Partial<LoadSummary> = {}): LoadSummary => ({
  requests: 100,
  goodput,
  kept: 0.5,
  admitted: 0.6,
  keptOfAdmitted: 0.97,
  headerKept: 1,
  stopwatchKept: 0.99,
  lost: 0,
  p50: 10,
  p99: 20,
  refusals: [],
  measuredByPredicted: 1,
  tiers: {},
  reasons: {},
  lagMs: 0,
  ...changes,
});
const point = { loop: "closed", load: 8, length: "short", budgetMs: 50 } as const;
const round = (edge: number, region: number, auto: number, changes: Partial<LoadSummary> = {}) => ({
  edge: summary(edge, { tiers: { edge: 10 } }),
  region: summary(region, { tiers: { region: 10 } }),
  auto: summary(auto, changes),
});
const measured = (rounds: readonly Readonly<Record<Mode, LoadSummary>>[]): MeasuredPoint => ({
  point,
  rounds,
  refusalLimitMs: 15,
});
const failed = (given: MeasuredPoint[]) =>
  checksOf(given.map(judge))
    .filter(({ holds }) => !holds)
    .map(({ what }) => what.split(" ").slice(0, 2).join(" "));

it("compares with the tier that has the higher median, round by round", () => {
  const verdict = judge(measured([round(10, 20, 30), round(50, 20, 24), round(10, 20, 10)]));
  expect(verdict).toMatchObject({ baseline: "region", ratio: 1.2, goodput: { edge: 10, region: 20, auto: 24 } });
});

it("passes a point that is as good as the better tier", () => {
  expect(failed([measured([round(10, 20, 20)])])).toEqual([]);
});

it("does not count a point at which both tiers answer less than one request per second", () => {
  expect(failed([measured([round(0.5, 0.9, 0.1)]), measured([round(10, 20, 20)])])).toEqual([]);
});

it("fails a mean below 1, a point below 0.85, and refusals of everything", () => {
  expect(failed([measured([round(10, 20, 19)])])).toEqual(["goodput by"]);
  expect(failed([measured([round(10, 20, 16)]), measured([round(10, 20, 40)])])).toEqual(["goodput by"]);
  expect(failed([measured([round(10, 20, 20, { admitted: 0.4 })])])).toEqual(["admitted share"]);
});

it("fails late answers, late refusals, wrong headers, lost requests and pins that do not hold", () => {
  expect(failed([measured([round(10, 20, 20, { keptOfAdmitted: 0.9 })])])).toEqual(["share of"]);
  expect(failed([measured([round(10, 20, 20, { refusals: [14, 16] })])])).toEqual(["share of"]);
  expect(failed([measured([round(10, 20, 20, { headerKept: 0.9 })])])).toEqual(["stopwatch share"]);
  expect(failed([measured([round(10, 20, 20, { lost: 1 })])])).toEqual(["requests without"]);
  const unpinned = { ...round(10, 20, 20), region: summary(20, { tiers: { edge: 10 } }) };
  expect(failed([measured([unpinned])])).toEqual(["share of"]);
});
