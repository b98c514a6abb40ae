import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { softmax } from "./scores.ts";

const logit = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe("softmax", () => {
  it("computes the same for logits that all are larger by a constant", () => {
    for (const shift of [-1_000, 0, 1_000]) {
      const [first, second] = softmax([shift, shift + 2]) as unknown as [number, number];
      expect(first).toBeCloseTo(1 / (1 + Math.E ** 2), 15);
      expect(second).toBeCloseTo(Math.E ** 2 / (1 + Math.E ** 2), 15);
    }
  });

  it("gives 0 to a logit of -Infinity, and nothing for no logits", () => {
    expect([...softmax([Number.NEGATIVE_INFINITY, 3])]).toEqual([0, 1]);
    expect([...softmax([])]).toEqual([]);
  });

  it("returns numbers between 0 and 1 with the sum 1, in the order of the logits", () => {
    fc.assert(
      fc.property(fc.array(logit, { minLength: 1, maxLength: 20 }), (logits) => {
        const scores = softmax(logits);
        expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
        const sum = scores.reduce((a, b) => a + b, 0);
        expect(Math.abs(sum - 1)).toBeLessThan(scores.length * Number.EPSILON);
        logits.forEach((a, i) => {
          const [b, next] = [logits[i + 1], scores[i + 1]];
          if (b !== undefined && a > b) expect(scores[i]).toBeGreaterThanOrEqual(next as number);
        });
      }),
      seeded(200),
    );
  });
});
