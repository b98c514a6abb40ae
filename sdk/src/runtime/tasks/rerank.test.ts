import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodedFloats,
  pipelineCases,
  relativeDifference,
  rowsOf,
  SCORE_ROUNDING,
} from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { rankedDocuments, relevanceScore, similarities } from "./rerank.ts";

const { dimensions, cosines, sigmoids, ...golden } = pipelineCases.vectors;
const rows = rowsOf(decodedFloats(golden.rows), dimensions);
const first = rows[0] as Float32Array<ArrayBuffer>;

describe("relevanceScore", () => {
  it("is torch's sigmoid of the logit, or the logit", () => {
    const logits = rowsOf(first, 1);
    const scores = logits.map((logit) => relevanceScore(logit, "sigmoid"));
    expect(scores).toHaveLength(sigmoids.length);
    expect(relativeDifference(scores, sigmoids)).toBeLessThan(SCORE_ROUNDING);
    expect(logits.map((logit) => relevanceScore(logit, "none"))).toEqual([...first]);
  });
});

describe("similarities", () => {
  it("are torch's cosines", () => {
    const found = similarities(first, rows);
    expect(found).toHaveLength(cosines.length);
    expect(relativeDifference(found, cosines)).toBeLessThan(SCORE_ROUNDING);
  });
});

describe("similarities with another function", () => {
  const [a, b] = [Float32Array.of(1, -2, 3), Float32Array.of(4, 2, -1)];
  it.each([
    ["dot", 4 - 4 - 3],
    ["euclidean", -Math.sqrt(9 + 16 + 16)],
    ["manhattan", -(3 + 4 + 4)],
  ] as const)("%s", (name, expected) => {
    expect(similarities(a, [b], name)).toEqual([expected]);
  });
});

describe("rankedDocuments", () => {
  it("sorts by score, and keeps the order of equal scores", () => {
    expect(rankedDocuments([0.5, 0.9, 0.5])).toEqual([
      { index: 1, score: 0.9 },
      { index: 0, score: 0.5 },
      { index: 2, score: 0.5 },
    ]);
  });

  it("returns each document once, and the beginning of that list for topN", () => {
    const scores = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 20 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 0, max: 25 }), (given, topN) => {
        const all = rankedDocuments(given);
        expect(all.map(({ index }) => index).sort((a, b) => a - b)).toEqual(given.map((_, i) => i));
        expect(all.every(({ index, score }) => given[index] === score)).toBe(true);
        expect(rankedDocuments(given, topN)).toEqual(all.slice(0, topN));
      }),
      seeded(200),
    );
  });
});
