import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { correlatedTokens, damped, statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { type GramBlock, gramBlocks, gramLength } from "../calibration/activation-statistics.ts";
import { dampedGram, descend } from "./coordinate-descent.ts";
import { nearestPoint } from "./four-bit-points.ts";

/** Rounding errors of sums in float64, relative to the error before. */
const ROUNDING = 1e-9;

/** e ᵀ H e */
function quadratic(gram: Float64Array, errors: ArrayLike<number>): number {
  let total = 0;
  for (let i = 0; i < errors.length; i++) {
    for (let j = 0; j < errors.length; j++) {
      total += (errors[i] as number) * (gram[i * errors.length + j] as number) * (errors[j] as number);
    }
  }
  return total;
}

describe("dampedGram", () => {
  it("returns the Gram matrix with GPTQ's damping", () => {
    const statistics = statisticsOf(correlatedTokens(9, 20, 1));
    const h = damped(statistics);
    dampedGram(statistics, gramBlocks(9)[0] as GramBlock).forEach((value, at) => {
      expect(value).toBeCloseTo(h(Math.floor(at / 9), at % 9), 6);
    });
  });

  it("multiplies by the factors of both inputs, and leaves no zero on the diagonal", () => {
    const statistics = statisticsOf(correlatedTokens(6, 20, 2));
    const factors = Float32Array.of(1, 2, 0.5, 4, 1, 0.25);
    const block = gramBlocks(6)[0] as GramBlock;
    const scaled = statisticsOf(
      correlatedTokens(6, 20, 2).map((x) => x.map((value, i) => value * (factors[i] as number))),
    );
    const [found, wanted] = [dampedGram({ ...statistics, factors }, block), dampedGram(scaled, block)];
    found.forEach((value, at) => {
      expect(value).toBeCloseTo(wanted[at] as number, 4);
    });
    const zero = dampedGram(
      { width: 3, tokens: 1, sum: new Float32Array(3), gram: new Float32Array(9) },
      {
        ...block,
        width: 3,
      },
    );
    expect([...zero]).toEqual([1, 0, 0, 0, 1, 0, 0, 0, 1]);
  });

  it("reads each block of a wide matrix", () => {
    const width = 2000;
    const gram = new Float32Array(gramLength(width));
    for (const { offset, width: size } of gramBlocks(width)) {
      for (let i = 0; i < size; i++) gram[offset + i * (size + 1)] = offset > 0 ? 200 : 100;
    }
    const factors = new Float32Array(width).fill(1).fill(2, 1000);
    const found = gramBlocks(width).map((block) =>
      dampedGram({ width, tokens: 1, sum: new Float32Array(width), gram, factors }, block),
    );
    expect(found.map((block) => [block[0], block[1], block.at(-1)])).toEqual([
      [101, 0, 101],
      [808, 0, 808],
    ]);
  });
});

describe("descend", () => {
  const cases = fc.record({
    width: fc.integer({ min: 1, max: 24 }),
    rank: fc.integer({ min: 1, max: 40 }),
    seed: fc.nat(),
  });

  /** Draws H = Σ x xᵀ + damping, weights, and points near them or anywhere. */
  function drawn({ width, rank, seed }: { width: number; rank: number; seed: number }) {
    const gram = dampedGram(statisticsOf(correlatedTokens(width, rank, seed)), gramBlocks(width)[0] as GramBlock);
    const random = randomNumbers(seed + 1);
    const weights = Float64Array.from({ length: width }, () => 140 * random() - 6);
    const points = Array.from({ length: width }, () => {
      const multiplier = 1 + Math.floor(8 * random());
      return [Math.floor((128 - 15 * multiplier) * random()), multiplier] as const;
    });
    const nearest = (number: number, k: number) => nearestPoint(number, ...(points[k] as readonly [number, number]));
    const start = (k: number) => (seed % 2 ? (weights[k] as number) : 127 * random());
    const rounded = weights.map((_, k) => nearest(start(k), k));
    return { gram, weights, nearest, rounded, errors: weights.map((weight, k) => weight - (rounded[k] as number)) };
  }

  it("never raises the error, with any Gram matrix", () => {
    let better = 0;
    fc.assert(
      fc.property(cases, (given) => {
        const { gram, weights, nearest, rounded, errors } = drawn(given);
        const before = quadratic(gram, errors);
        descend(gram, errors, rounded, nearest);
        const after = quadratic(gram, errors);
        expect(after).toBeLessThanOrEqual(before * (1 + ROUNDING));
        if (after < before / 2) better++;
        errors.forEach((error, k) => {
          expect(error).toBeCloseTo((weights[k] as number) - (rounded[k] as number), 9);
          expect(nearest(rounded[k] as number, k)).toBe(rounded[k]);
        });
      }),
      seeded(300),
    );
    expect(better).toBeGreaterThan(30);
  });

  it("changes no weight alone that would still lower the error, after enough calls", () => {
    fc.assert(
      fc.property(cases, (given) => {
        const { gram, weights, nearest, rounded, errors } = drawn(given);
        for (let call = 0; call < 30; call++) descend(gram, errors, rounded, nearest);
        const least = quadratic(gram, errors);
        for (let k = 0; k < given.width; k++) {
          for (const step of [-1, 1, -8, 8]) {
            const other = nearest((rounded[k] as number) + step, k);
            const changed = errors.with(k, (weights[k] as number) - other);
            expect(quadratic(gram, changed)).toBeGreaterThanOrEqual(least * (1 - ROUNDING));
          }
        }
      }),
      seeded(50),
    );
  });

  it("leaves weights that are exact", () => {
    const { gram, nearest, rounded } = drawn({ width: 8, rank: 20, seed: 3 });
    const [before, errors] = [rounded.slice(), new Float64Array(8)];
    descend(gram, errors, rounded, nearest);
    expect(rounded).toEqual(before);
    expect(errors).toEqual(new Float64Array(8));
  });
});
