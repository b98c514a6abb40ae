import { describe, expect, it } from "vitest";
import { SCORE_PARTS } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { FRACTION_BITS, numerator } from "./numerator.ts";

describe("numerator", () => {
  it("is 127 · 2⁻ᵈ, within the documented error", () => {
    for (let d = 0; d < 15 * SCORE_PARTS; d++) {
      const exact = 127 * 2 ** (FRACTION_BITS - d / SCORE_PARTS);
      expect(Math.abs(numerator(d) - exact)).toBeLessThanOrEqual(2.1);
    }
    expect([0.4, 0.6].map(numerator)).toEqual([numerator(0), numerator(1)]);
  });

  it("is 0 for the maximum distance and for NaN", () => {
    expect([15 * SCORE_PARTS, 1e30, Number.POSITIVE_INFINITY, Number.NaN].map(numerator)).toEqual([0, 0, 0, 0]);
  });

  it("does not increase with the distance", () => {
    for (let d = 1; d < 16 * SCORE_PARTS; d++) expect(numerator(d)).toBeLessThanOrEqual(numerator(d - 1));
  });
});
