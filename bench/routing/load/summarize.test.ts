import { expect, it } from "vitest";
import type { LoadJob, Sample } from "./job.ts";
import { summarize } from "./summarize.ts";

const job: LoadJob = {
  url: "http://edge",
  key: "key",
  traffic: { loop: "closed", clients: 1 },
  length: "word",
  budgetMs: 50,
  pin: undefined,
  seed: 1,
  warmMs: 500,
  measuredMs: 1_000,
};
const answer: Sample = {
  client: 0,
  turn: 0,
  at: 0,
  ms: 10,
  status: 200,
  code: undefined,
  tier: "edge",
  reason: "within-budget",
  predictedMs: 5,
  remainingMs: 40,
};
const late: Sample = { ...answer, ms: 60, remainingMs: 5 };
const refused: Sample = {
  ...answer,
  ms: 2,
  status: 503,
  code: "overloaded",
  reason: undefined,
  remainingMs: undefined,
};
const unanswered: Sample = { ...refused, ms: undefined, status: 0, code: undefined };
const broken: Sample = { ...refused, status: 500, code: "internal" };

const summaryOf = (samples: readonly Sample[], changes: Partial<LoadJob> = {}) =>
  summarize({ ...job, ...changes }, { samples, lagMs: 0 });

it("counts answers within the budget, refusals and errors", () => {
  expect(summaryOf([answer, answer, late, refused, unanswered, broken])).toMatchObject({
    requests: 6,
    goodput: 2,
    kept: 2 / 6,
    admitted: 5 / 6,
    keptOfAdmitted: 2 / 5,
    lost: 1,
    refusals: [2],
    tiers: { edge: 3 },
    reasons: { "within-budget": 3, overloaded: 1, internal: 1 },
  });
});

it("compares the header with the stopwatch for the same answers", () => {
  expect(summaryOf([answer, late, refused])).toMatchObject({ headerKept: 1, stopwatchKept: 1 / 2 });
});

it("leaves requests out that ended before the window, and goodput that ends after it", () => {
  expect(summaryOf([{ ...answer, at: -400 }])).toMatchObject({ requests: 0, goodput: 0 });
  expect(summaryOf([{ ...answer, at: -5 }])).toMatchObject({ requests: 1, goodput: 1 });
  expect(summaryOf([{ ...answer, at: 995 }])).toMatchObject({ requests: 1, goodput: 0, kept: 1 });
  expect(summaryOf([{ ...unanswered, at: -400 }])).toMatchObject({ requests: 1, kept: 0 });
});

it("counts every answer without a budget, and ignores unanswered requests", () => {
  expect(summaryOf([answer, late, unanswered], { budgetMs: undefined })).toMatchObject({ requests: 2, kept: 1 });
});

it("does not count answers of the other tier as kept when a tier is pinned", () => {
  expect(summaryOf([answer], { pin: "edge" }).kept).toBe(1);
  expect(summaryOf([answer], { pin: "region" })).toMatchObject({ kept: 0, admitted: 1, goodput: 0 });
});
