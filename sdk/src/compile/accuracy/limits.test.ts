import { describe, expect, it } from "vitest";
import type { Accuracy } from "../../artifact/manifest.ts";
import { FP16_LIMIT, INT8_LIMIT, RANDOM_TOKENS_LIMIT, STATIC_LIMIT, shortfall } from "./limits.ts";

const limits = { FP16_LIMIT, INT8_LIMIT, STATIC_LIMIT, RANDOM_TOKENS_LIMIT };

describe.each(Object.entries(limits))("%s", (_, limit) => {
  const { meanCosine, minCosine, minTop1, maxDrop } = limit;
  const exact = { meanCosine, minCosine, maxAbsDiff: 1, cases: 21, top1: minTop1 };
  const task = { metric: "accuracy", score: 90 - maxDrop, fp32: 90 } as const;

  it("accepts values that equal the limit", () => {
    expect(shortfall({ parity: exact, task }, limit)).toBeUndefined();
    expect(shortfall({ parity: { ...exact, top1: undefined }, task: undefined }, limit)).toBeUndefined();
  });

  it.each<[string, Partial<Accuracy["parity"]>, object, string]>([
    ["the mean cosine", { meanCosine: meanCosine - 1e-4 }, {}, "mean cosine"],
    ["the worst cosine", { minCosine: minCosine - 1e-4 }, {}, "worst cosine"],
    [
      "a length",
      {
        lengths: [
          { tokens: 16, meanCosine: 1 },
          { tokens: 256, meanCosine: minCosine - 1e-4 },
        ],
      },
      {},
      "of texts of 256 tokens",
    ],
    [
      "a length, NaN,",
      { lengths: [{ tokens: 16, meanCosine: Number.NaN }] },
      {},
      "mean cosine NaN of texts of 16 tokens",
    ],
    ["the labels", { top1: minTop1 - 0.01 }, {}, "the same label for"],
    ["the task's metric", {}, { score: task.score - 0.01 }, "accuracy"],
    ["the mean cosine, NaN,", { meanCosine: Number.NaN }, {}, "mean cosine NaN"],
    ["the worst cosine, NaN,", { minCosine: Number.NaN }, {}, "worst cosine NaN"],
    ["the labels, NaN,", { top1: Number.NaN }, {}, "the same label for NaN %"],
    ["the metric, NaN,", {}, { score: Number.NaN }, "accuracy NaN"],
    ["the metric of float32, NaN,", {}, { fp32: Number.NaN }, "accuracy"],
  ])("is missed by %s alone, and the reason names nothing else", (_, figures, score, named) => {
    const reason = shortfall({ parity: { ...exact, ...figures }, task: { ...task, ...score } }, limit);
    expect(reason).toContain(named);
    expect(reason?.match(/\((must be at least|may drop by)/g)).toHaveLength(1);
    expect(reason).toMatch(/ over 21 texts$/);
  });
});

it("accepts a metric that rises by any amount", () => {
  const parity = { meanCosine: 1, minCosine: 1, maxAbsDiff: 0, cases: 21 };
  expect(shortfall({ parity, task: { metric: "sts", score: 90, fp32: 10 } }, INT8_LIMIT)).toBeUndefined();
});
