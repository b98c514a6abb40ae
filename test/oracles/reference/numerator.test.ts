import { describe, expect, it } from "vitest";
import { SCORE_PARTS } from "#sdk/runtime/engine/wasm/constants/arithmetic.ts";
import { numerator } from "./numerator.ts";

/** Documented maximum error. Measured: 0.00603 over all fractions. */
const OFF = 0.0061;

describe("numerator", () => {
  it("rounds 127 · 2⁻ᵈ correctly, except within the error of a half", () => {
    for (let d = 0; d <= 10 * SCORE_PARTS; d++) {
      expect(Math.abs(numerator(d) - 127 * 2 ** (-d / SCORE_PARTS))).toBeLessThanOrEqual(0.5 + OFF);
    }
    expect([0, 1, 7, 9].map((d) => numerator(d * SCORE_PARTS))).toEqual([127, 63, 1, 0]);
    expect([0.4, 0.6].map(numerator)).toEqual([numerator(0), numerator(1)]);
  });

  it("is 0 for the maximum distance and for NaN", () => {
    expect([1e30, Number.POSITIVE_INFINITY, Number.NaN].map(numerator)).toEqual([0, 0, 0]);
  });

  it("does not increase with the distance", () => {
    for (let d = 1; d < 10 * SCORE_PARTS; d++) expect(numerator(d)).toBeLessThanOrEqual(numerator(d - 1));
  });
});
