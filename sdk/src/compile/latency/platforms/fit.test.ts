import { describe, expect, it } from "vitest";
import { costPerMillion, fitOf, predictedMs, reportedLengths, type TargetNeeds } from "./fit.ts";
import { platforms } from "./platforms.ts";

const MEBIBYTE = 2 ** 20;

const platform = (id: string) => platforms.find((each) => each.id === id) ?? expect.unreachable(id);

/** A model that takes 8 ms and 40 MiB. */
const needs: TargetNeeds = { engine: "wasm", memory: 40 * MEBIBYTE, code: MEBIBYTE / 2, ms: 8 };

describe("fitOf", () => {
  it("names the limit that is used up most", () => {
    const fit = fitOf(platform("workers-free"), needs);
    expect(fit).toMatchObject({ fits: true, binding: { limit: "time", used: 8, allowed: 10 } });
    expect(fit?.limits).toEqual([
      { limit: "memory", used: 40 * MEBIBYTE, allowed: 128 * MEBIBYTE },
      { limit: "code", used: MEBIBYTE / 2, allowed: 64 * MEBIBYTE },
      { limit: "time", used: 8, allowed: 10 },
    ]);
    expect(fitOf(platform("workers-paid"), needs)).toMatchObject({ fits: true, binding: { limit: "memory" } });
  });

  it.each([
    ["time", { ms: 10.1 }, "workers-free"],
    ["memory", { memory: 129 * MEBIBYTE }, "workers-paid"],
    ["code", { code: 65 * MEBIBYTE }, "workers-paid"],
    ["memory", { memory: 513 * MEBIBYTE }, "aws-lambda-512"],
  ] as const)("does not fit when %s exceeds its limit", (limit, more, id) => {
    expect(fitOf(platform(id), { ...needs, ...more })).toMatchObject({ fits: false, binding: { limit } });
  });

  it("fits when a limit is used up exactly", () => {
    expect(fitOf(platform("workers-free"), { ...needs, ms: 10 })?.fits).toBe(true);
  });

  it("slows computation down on platforms with less than a core, and speeds nothing up with more", () => {
    expect(fitOf(platform("aws-lambda-512"), needs)?.ms).toBeCloseTo((8 * 1769) / 512, 9);
    expect(fitOf(platform("aws-lambda-2048"), needs)?.ms).toBe(8);
  });

  it("compares only what is known, and predicts no cost without a time", () => {
    const fit = fitOf(platform("gpu"), { ...needs, ms: undefined });
    expect(fit).toMatchObject({ fits: true, binding: { limit: "memory" }, ms: undefined, costPerMillion: undefined });
    // 3600 s of an L4, 4 vCPUs and 16 GiB
    expect(fit?.costPerHour).toBeCloseTo(3600 * (0.0001867 + 4 * 0.000018 + 16 * 0.000002), 12);
    expect(fitOf(platform("gpu"), { ...needs, memory: undefined, ms: undefined })).toBeUndefined();
  });
});

it("names the page of each number once", () => {
  expect(fitOf(platform("workers-paid"), needs)?.sources).toEqual([
    { source: "https://developers.cloudflare.com/workers/platform/limits/", asOf: "2026-09" },
    { source: "https://developers.cloudflare.com/workers/platform/pricing/", asOf: "2026-08" },
  ]);
});

describe("costPerMillion", () => {
  it.each([
    ["workers-free", 10, 0],
    // 0.30 for the requests, 0.02 for each of 10 million CPU milliseconds
    ["workers-paid", 10, 0.5],
    // 0.20 for the requests, 2 GB for 10,000 s
    ["aws-lambda-2048", 10, 0.2 + 2 * 10_000 * 0.0000166667],
    // 1 vCPU and 1 GiB for 10,000 s
    ["container", 10, 10_000 * (0.000018 + 0.000002)],
  ])("of %s at %d ms is %d dollars", (id, ms, dollars) => {
    expect(costPerMillion(platform(id).prices, ms)).toBeCloseTo(dollars, 9);
  });

  it("rounds up to what is charged", () => {
    const { prices } = platform("aws-lambda-1024");
    expect(costPerMillion(prices, 8.01)).toBe(costPerMillion(prices, 9));
  });
});

describe("platforms", () => {
  it("have a source and a month for each number", () => {
    const text = JSON.stringify(platforms);
    const numbers = [...text.matchAll(/"value":[\d.e-]+,"source":"https:\/\/[^"]+","asOf":"2026-\d\d"/g)];
    expect(numbers.length).toBeGreaterThan(20);
    expect(numbers).toHaveLength(text.split('"value"').length - 1);
  });

  it("have different ids", () => {
    expect(new Set(platforms.map(({ id }) => id)).size).toBe(platforms.length);
  });
});

it("predictedMs evaluates a latency fit", () => {
  expect(predictedMs({ base: 1, perToken: 0.1, perSquare: 0.001 }, 100)).toBeCloseTo(21, 12);
});

it.each([
  [8192, [8, 32, 128, 512]],
  [256, [8, 32, 128, 256]],
  [128, [8, 32, 128]],
  [5, [5]],
])("reportedLengths of a model with %d tokens are %j", (maxTokens, lengths) => {
  expect(reportedLengths(maxTokens)).toEqual(lengths);
});
