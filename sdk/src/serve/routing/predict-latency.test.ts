import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { predictLatency, tokensWithin } from "../answering/plan.ts";

/** Sums of doubles in different orders differ by a few rounding errors. */
const RELATIVE_TOLERANCE = 1e-12;

const coefficient = fc.double({ min: 0, max: 100, noNaN: true });
const cost = fc.record({ base: coefficient, perToken: coefficient, perSquare: coefficient });
const lengths = fc.array(fc.integer({ min: 1, max: 512 }), { maxLength: 64 });
const near = (a: number, b: number) => Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(a, b);

describe("predictLatency", () => {
  it("is base + perToken · n + perSquare · n² for one sequence", () => {
    expect(predictLatency({ base: 2, perToken: 0.5, perSquare: 0.25 }, [4])).toBe(2 + 2 + 4);
  });

  it("is 0 for no sequences", () => {
    expect(predictLatency({ base: 2, perToken: 1, perSquare: 1 }, [])).toBe(0);
  });

  it("adds up over sequences, which run one after another", () => {
    fc.assert(
      fc.property(cost, lengths, lengths, (cost, some, others) => {
        const together = predictLatency(cost, [...some, ...others]);
        expect(near(together, predictLatency(cost, some) + predictLatency(cost, others))).toBe(true);
      }),
    );
  });

  it("never falls when a sequence grows", () => {
    fc.assert(
      fc.property(cost, fc.integer({ min: 1, max: 512 }), fc.integer({ min: 0, max: 512 }), (cost, length, more) => {
        expect(predictLatency(cost, [length + more])).toBeGreaterThanOrEqual(predictLatency(cost, [length]));
      }),
    );
  });
});

describe("tokensWithin", () => {
  it("is the longest sequence whose predicted time fits", () => {
    const fit = fc.record({
      base: coefficient,
      perToken: fc.double({ min: 0.01, max: 1, noNaN: true }),
      perSquare: fc.double({ min: 0, max: 0.1, noNaN: true }),
    });
    fc.assert(
      fc.property(fit, fc.double({ min: 0.1, max: 1_000, noNaN: true }), (cost, ms) => {
        const tokens = tokensWithin(cost, ms);
        if (tokens > 0) expect(predictLatency(cost, [tokens])).toBeLessThanOrEqual(ms * (1 + RELATIVE_TOLERANCE));
        expect(predictLatency(cost, [tokens + 1])).toBeGreaterThan(ms * (1 - RELATIVE_TOLERANCE));
      }),
    );
  });

  it("is 0 if nothing fits", () => expect(tokensWithin({ base: 5, perToken: 1, perSquare: 0 }, 5)).toBe(0));
});
