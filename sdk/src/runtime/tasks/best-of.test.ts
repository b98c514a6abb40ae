import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { bestOf } from "./scores.ts";

const itself = (score: number) => score;

describe("bestOf", () => {
  it("finds what sorting all items finds", () => {
    // Few different scores: many are equal.
    const score = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(Number.NEGATIVE_INFINITY, 0.5));
    fc.assert(
      fc.property(fc.array(score, { maxLength: 40 }), fc.integer({ min: 0, max: 45 }), (scores, count) => {
        const sorted = [...scores.entries()].sort(([a, first], [b, second]) => second - first || a - b);
        expect(bestOf(scores.entries(), ([, found]) => found, count)).toEqual(sorted.slice(0, count));
      }),
      seeded(500),
    );
  });

  it("returns all items if count is larger, also Infinity", () => {
    expect(bestOf([1, 3, 2], itself, Number.POSITIVE_INFINITY)).toEqual([3, 2, 1]);
    expect(bestOf([], itself, 5)).toEqual([]);
  });
});
