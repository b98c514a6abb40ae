import { describe, expect, it } from "vitest";
import { correlatedTokens, factorisation, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { gptqFactors } from "./gptq.ts";

/** Of the largest element of the moments: factors are stored in float32. Measured 5.0 · 10⁻⁸ at worst. */
const FLOAT32_ROUNDING = 2e-7;

const edited = (width: number, tokens: number, edit: (value: number, i: number) => number) =>
  statisticsOf(correlatedTokens(width, tokens, 6).map((x) => x.map(edit)));

describe("compensation", () => {
  it.each([
    ["one input", statisticsOf(correlatedTokens(1, 5, 1))],
    ["few inputs", statisticsOf(correlatedTokens(5, 40, 2))],
    ["many inputs", statisticsOf(correlatedTokens(48, 300, 3))],
    ["fewer tokens than inputs", statisticsOf(correlatedTokens(33, 4, 4))],
    ["one token", statisticsOf(correlatedTokens(7, 1, 5))],
    ["an input that is constant", edited(9, 40, (value, i) => (i === 2 ? 0.7 : value))],
    ["an input that is always zero", edited(9, 40, (value, i) => (i === 2 ? 0 : value))],
    ["an input that is huge", edited(9, 40, (value, i) => (i === 2 ? 1e4 * value : value))],
    ["very small inputs", edited(9, 40, (value) => 1e-12 * value)],
    ["inputs that are all zero", edited(9, 40, () => 0)],
  ])("factors the damped moments of %s", (_, moments) => {
    const { pivots, difference } = factorisation(moments);
    expect(Math.min(...pivots)).toBeGreaterThan(0);
    expect(difference).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("begins with the inputs that are largest, and has each once", () => {
    const moments = statisticsOf(correlatedTokens(33, 100, 9));
    const { order } = gptqFactors(moments);
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 33 }, (_, i) => i));
    const squares = [...order].map((i) => moments.gram[i * 34] as number);
    expect(squares).toEqual(squares.toSorted((a, b) => b - a));
  });

  it("has nothing to make up for where inputs have nothing in common, or are all zero", () => {
    const width = 6;
    for (const scale of [0, 1]) {
      const products = new Float32Array(width * width);
      for (let i = 0; i < width; i++) products[i * (width + 1)] = scale * (i + 1);
      const { factors } = gptqFactors({ width, tokens: 10, sum: new Float32Array(width), gram: products });
      expect([...factors].every((factor) => factor === 0)).toBe(true);
    }
  });
});
