import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { ndcgAt } from "./ndcg.ts";

const judged = new Map(Object.entries({ a: 3, b: 2, c: 3, d: 0, e: 1, f: -1, g: 2 }));

describe("ndcgAt", () => {
  it.each([
    ["abcdefg", 0.9777813616305049, 0.9544018453090709],
    ["fdxgyecab", 0, 0.5273795637515006],
    ["eb", 0.3838351257904502, 0.31674289770990033],
    ["xyz", 0, 0],
    ["acbgedf", 1, 1],
    ["f", 0, 0],
  ])("returns the value of pytrec_eval (trec_eval's ndcg_cut) for the ranking %s", (ranking, at3, at10) => {
    expect(ndcgAt(3, [...ranking], judged)).toBeCloseTo(at3, 14);
    expect(ndcgAt(10, [...ranking], judged)).toBeCloseTo(at10, 14);
  });

  it("returns 0 when no document is relevant", () => {
    expect(ndcgAt(10, ["a", "b"], new Map([["a", 0]]))).toBe(0);
    expect(ndcgAt(10, ["a", "b"], new Map())).toBe(0);
  });

  const ids = [...judged.keys(), "x", "y"];
  const rankings = fc.shuffledSubarray(ids, { minLength: ids.length });

  it("lies between 0 and 1, and is 1 for rankings sorted by relevance", () => {
    fc.assert(
      fc.property(rankings, fc.integer({ min: 1, max: 9 }), (ranking, k) => {
        const value = ndcgAt(k, ranking, judged);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        const best = ranking.toSorted((p, q) => (judged.get(q) ?? 0) - (judged.get(p) ?? 0));
        expect(ndcgAt(k, best, judged)).toBe(1);
      }),
      seeded(200),
    );
  });

  it("ignores documents after the first k", () => {
    fc.assert(
      fc.property(rankings, fc.integer({ min: 1, max: 9 }), (ranking, k) => {
        const changed = [...ranking.slice(0, k), ...ranking.slice(k).reverse()];
        expect(ndcgAt(k, changed, judged)).toBe(ndcgAt(k, ranking, judged));
      }),
      seeded(100),
    );
  });
});
