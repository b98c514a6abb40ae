import { describe, expect, it } from "vitest";
import { correlatedTokens, factorization, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { type GramBlock, gramBlocks, gramLength, type ScaledStatistics } from "../calibration/activation-statistics.ts";
import { gptqFactors } from "./gptq.ts";

const factorsOf = (statistics: ScaledStatistics) =>
  gptqFactors(statistics, gramBlocks(statistics.width)[0] as GramBlock);

/**
 * Maximum error that storing the factors in float32 causes, relative to the Gram matrix. Measured: 5.0 · 10⁻⁸ at
 * worst.
 */
const FLOAT32_ROUNDING = 2e-7;

const edited = (width: number, tokens: number, edit: (value: number, i: number) => number) =>
  statisticsOf(correlatedTokens(width, tokens, 6).map((x) => x.map(edit)));

describe("gptqFactors", () => {
  it.each([
    ["one input", statisticsOf(correlatedTokens(1, 5, 1))],
    ["few inputs", statisticsOf(correlatedTokens(5, 40, 2))],
    ["many inputs", statisticsOf(correlatedTokens(48, 300, 3))],
    ["fewer tokens than inputs", statisticsOf(correlatedTokens(33, 4, 4))],
    ["one token", statisticsOf(correlatedTokens(7, 1, 5))],
    ["a constant input", edited(9, 40, (value, i) => (i === 2 ? 0.7 : value))],
    ["an input that is always zero", edited(9, 40, (value, i) => (i === 2 ? 0 : value))],
    ["a huge input", edited(9, 40, (value, i) => (i === 2 ? 1e4 * value : value))],
    ["very small inputs", edited(9, 40, (value) => 1e-12 * value)],
    ["inputs that are always zero", edited(9, 40, () => 0)],
  ])("factorizes the damped Gram matrix of %s", (_, statistics) => {
    const { pivots, difference } = factorization(statistics);
    expect(Math.min(...pivots)).toBeGreaterThan(0);
    expect(difference).toBeLessThan(FLOAT32_ROUNDING);
  });

  it("orders inputs by falling mean square, each once", () => {
    const statistics = statisticsOf(correlatedTokens(33, 100, 9));
    const { order } = factorsOf(statistics);
    expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length: 33 }, (_, i) => i));
    const squares = [...order].map((i) => statistics.gram[i * 34] as number);
    expect(squares).toEqual(squares.toSorted((a, b) => b - a));
  });

  it("factorizes each block alone", () => {
    const width = 2000;
    const [first, second, ...others] = gramBlocks(width) as [GramBlock, GramBlock];
    expect([first.width, second.start, second.width, others]).toEqual([1000, 1000, 1000, []]);
    const gram = new Float32Array(gramLength(width));
    // The same block twice, but the second one's channels are four times as large, which rounds the same.
    const block = statisticsOf(correlatedTokens(1000, 6, 7)).gram;
    gram.set(block);
    gram.set(
      block.map((product) => 16 * product),
      second.offset,
    );
    const statistics = { width, tokens: 6, sum: new Float32Array(width), gram };
    const [one, two] = [gptqFactors(statistics, first), gptqFactors(statistics, second)];
    expect(two.order).toEqual(one.order.map((input) => 1000 + input));
    expect(one.factors.some((factor) => factor !== 0)).toBe(true);
    expect(two.factors).toEqual(one.factors);
  });

  it("returns zero factors if inputs are uncorrelated or zero", () => {
    const width = 6;
    for (const scale of [0, 1]) {
      const gram = new Float32Array(width * width);
      for (let i = 0; i < width; i++) gram[i * (width + 1)] = scale * (i + 1);
      const { factors } = factorsOf({ width, tokens: 10, sum: new Float32Array(width), gram });
      expect([...factors].every((factor) => factor === 0)).toBe(true);
    }
  });
});
