import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { couldAnswer } from "./bound.ts";
import { total } from "./figures.ts";
import type { Policy } from "./policies.ts";
import type { Request } from "./request.ts";
import { simulate } from "./simulate.ts";
import { sumOf } from "./tally.ts";
import { workload } from "./workload.ts";
import type { World } from "./world.ts";

const LENGTH_MS = 3_000;

const ms = (max: number) => fc.double({ min: max / 100, max, noNaN: true });
const fit = fc.record({ base: ms(5), perToken: ms(0.5), perSquare: ms(0.0002) });
const region = fc.record({
  machines: fc.integer({ min: 1, max: 3 }),
  outage: fc.option(
    fc.tuple(fc.nat(LENGTH_MS), fc.nat(1_000)).map(([from, length]) => ({ from, to: from + length })),
    { nil: undefined },
  ),
});
const world = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })).chain(([points, regions]) =>
  fc.record({
    model: fc.record({ edge: fit, regionalCpu: fit, region: fit, coldStartMs: ms(100) }),
    edgeGapMs: ms(2),
    regionGapMs: ms(1),
    points: fc.array(
      fc.record({
        slowness: ms(3),
        maxIsolates: fc.integer({ min: 1, max: 4 }),
        roundTripMs: fc.array(ms(100), { minLength: regions, maxLength: regions }),
        nearest: fc.constant(0),
      }),
      { minLength: points, maxLength: points },
    ),
    regions: fc.array(region, { minLength: regions, maxLength: regions }),
  }),
);

/** Decides at random, with as many refusals and hedges as its shares say. */
const randomPolicy =
  (random: () => number, refusals: number, hedges: number): Policy =>
  ({ region }) => {
    if (random() < refusals) return { refusal: "overloaded" };
    const tier = typeof region === "object" && random() < 0.5 ? "region" : "here";
    const hedge = tier === "here" && typeof region === "object" && random() < hedges;
    return { tier, reason: "no-budget", predictedMs: undefined, hedge };
  };

describe("couldAnswer", () => {
  it("is true for every request that any policy answers in time, in every world", () => {
    let kept = 0;
    let requests = 0;
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        world,
        fc.nat(),
        fc.integer({ min: 5, max: 200 }),
        share,
        share,
        (world: World, seed, rate, refusals, hedges) => {
          const draw = workload({ seed, rates: world.points.map(() => rate) });
          const random = randomNumbers(seed + 1);
          const drawn: Request[] = [];
          const { tally } = simulate({
            world,
            arrivals() {
              const request = draw();
              drawn.push(request);
              return request;
            },
            policy: randomPolicy(random, refusals / 2, hedges),
            random,
            lengthMs: LENGTH_MS,
            binMs: LENGTH_MS,
          });
          for (const request of drawn) {
            const { outcome, at, budgetMs } = request;
            if (!outcome?.tier || outcome.at - at > budgetMs) continue;
            kept++;
            expect(couldAnswer(world, request)[outcome.tier]).toBe(true);
          }
          const sum = sumOf(tally.bins);
          expect(total(sum.keptByEdge) + total(sum.keptByRegion)).toBeLessThanOrEqual(total(sum.answerable));
          requests += total(sum.arrived);
        },
      ),
      seeded(runs(30, 100)),
    );
    // The worlds are neither so easy nor so hard that the property says nothing.
    expect(kept / requests).toBeGreaterThan(0.1);
    expect(kept / requests).toBeLessThan(0.9);
  });
});
