import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { fitLatency, type LatencyPoint } from "./fit-latency.ts";

/**
 * Largest rounding error that the tests allow, as a share of the shortest input's time. In 20 000 fits in float64, the
 * largest error was 7e-13.
 */
const ROUNDING = 1e-11;

const lengths = fc.uniqueArray(fc.constantFrom(8, 16, 32, 64, 128, 256, 512), { minLength: 3 });
/** Draws one coefficient of a latency fit: 0, or a number between most / 1000 and `most`. */
const coefficient = (most: number) => fc.oneof(fc.constant(0), fc.double({ min: most / 1000, max: most, noNaN: true }));
const cost = fc
  .record({ base: coefficient(50), perToken: coefficient(5), perSquare: coefficient(0.01) })
  .filter(({ base, perToken, perSquare }) => base + perToken + perSquare > 0);

const timeOf = ({ base, perToken, perSquare }: ReturnType<typeof fitLatency>, tokens: number) =>
  base + perToken * tokens + perSquare * tokens ** 2;

/** Returns the sum of squares that the fit minimizes. */
const relativeError = (fit: ReturnType<typeof fitLatency>, points: readonly LatencyPoint[]) =>
  points.reduce((sum, { tokens, ms }) => sum + (timeOf(fit, tokens) / ms - 1) ** 2, 0);

describe("fitLatency", () => {
  it("finds the coefficients from which the times were computed", () => {
    fc.assert(
      fc.property(cost, lengths, (made, tokens) => {
        const fit = fitLatency(tokens.map((n) => ({ tokens: n, ms: timeOf(made, n) })));
        const shortest = Math.min(...tokens);
        const tolerance = ROUNDING * timeOf(made, shortest);
        expect(Math.abs(fit.base - made.base)).toBeLessThan(tolerance);
        expect(Math.abs(fit.perToken - made.perToken) * shortest).toBeLessThan(tolerance);
        expect(Math.abs(fit.perSquare - made.perSquare) * shortest ** 2).toBeLessThan(tolerance);
      }),
      seeded(500),
    );
  });

  const noisy = fc
    .tuple(cost, lengths, fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 7, maxLength: 7 }))
    .map(([made, tokens, noise]) => tokens.map((n, i) => ({ tokens: n, ms: timeOf(made, n) * (noise[i] as number) })));

  it("never gives a negative or infinite coefficient, however noisy the times", () => {
    fc.assert(
      fc.property(noisy, (points) => {
        for (const value of Object.values(fitLatency(points))) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThan(Number.POSITIVE_INFINITY);
        }
      }),
      seeded(500),
    );
  });

  it("fits noisy times at least as well as any other non-negative coefficients", () => {
    fc.assert(
      fc.property(noisy, cost, fc.double({ min: -0.1, max: 0.1, noNaN: true }), (points, other, change) => {
        const fit = fitLatency(points);
        const least = relativeError(fit, points) - ROUNDING;
        const nudged = { ...fit, base: fit.base * (1 + change), perToken: fit.perToken * (1 - change) };
        for (const rival of [other, nudged]) expect(relativeError(rival, points)).toBeGreaterThanOrEqual(least);
      }),
      seeded(500),
    );
  });

  it("gives short inputs the same weight as long ones", () => {
    // Here, long inputs take twice as much time per token as short inputs. A fit that minimizes absolute errors would
    // follow only the longest input.
    const points = [8, 16, 256, 512].map((tokens) => ({ tokens, ms: tokens < 100 ? tokens : 2 * tokens }));
    const fit = fitLatency(points);
    const [short, long] = [timeOf(fit, 8) / 8, timeOf(fit, 512) / 1024];
    expect(Math.abs(short - 1)).toBeLessThan(0.25);
    expect(Math.abs(long - 1)).toBeLessThan(0.25);
  });

  it("fits a single time by a constant", () => {
    expect(fitLatency([{ tokens: 8, ms: 4 }])).toEqual({ base: 4, perToken: 0, perSquare: 0 });
  });

  it.each<[string, LatencyPoint[]]>([
    ["no times at all", []],
    ["a time of zero", [{ tokens: 8, ms: 0 }]],
  ])("refuses %s", (_, points) => {
    expect(() => fitLatency(points)).toThrow(RangeError);
  });
});
