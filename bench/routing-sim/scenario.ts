import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type ModelName, models } from "./models.ts";
import { type PolicyName, policies } from "./policies.ts";
import { simulate } from "./simulate.ts";
import type { Counts } from "./tally.ts";
import { workload } from "./workload.ts";
import { drawWorld } from "./world.ts";

export const BIN_MS = 250;

const POINTS = 300;

/** Region whose points get a crowd. */
const CROWD_REGION = 0;
const CROWD_FACTOR = 3;

/** Lengths of the phases in seconds, in order. */
export interface Phases {
  readonly warmUp: number;
  readonly steady: number;
  /** The points of one region get three times the requests. */
  readonly crowd: number;
  readonly afterCrowd: number;
  /** No region answers. */
  readonly outage: number;
  readonly afterOutage: number;
}

export const wholeDay: Phases = { warmUp: 3, steady: 10, crowd: 2, afterCrowd: 5, outage: 3, afterOutage: 6 };

/** For the policies that the production policy is compared with. */
export const steadyOnly: Phases = { warmUp: 3, steady: 2, crowd: 0, afterCrowd: 0, outage: 0, afterOutage: 0 };

export interface Scenario {
  readonly model: ModelName;
  readonly policy: PolicyName;
  /** Requests per second, apart from the crowd. */
  readonly rate: number;
  readonly phases: Phases;
  readonly seed: number;
}

export interface ScenarioResult {
  readonly requests: number;
  readonly isolates: number;
  /** Counts of every `BIN_MS`, by time of arrival. */
  readonly bins: readonly Counts[];
}

/** Returns the start and the end of every phase, in milliseconds. */
export function timesOf(phases: Phases): Record<keyof Phases, { from: number; to: number }> {
  let from = 0;
  const times = Object.entries(phases).map(([name, seconds]) => {
    const span = { from, to: from + 1_000 * seconds };
    from = span.to;
    return [name, span];
  });
  return Object.fromEntries(times);
}

export function runScenario({ model, policy, rate, phases, seed }: Scenario): ScenarioResult {
  const { world, rates } = drawWorld({ seed, model: models[model], points: POINTS, rate });
  const { outage, crowd, afterOutage } = timesOf(phases);
  const regions = world.regions.map((plan) => ({ ...plan, outage }));
  const crowded = [...world.points.keys()].filter((point) => world.points[point]?.nearest === CROWD_REGION);
  const random = randomNumbers(seed + 1);
  const { tally, requests, isolates } = simulate({
    world: { ...world, regions },
    arrivals: workload({ seed: seed + 2, rates, crowd: { ...crowd, factor: CROWD_FACTOR, points: new Set(crowded) } }),
    policy: policies[policy](random),
    random,
    lengthMs: afterOutage.to,
    binMs: BIN_MS,
  });
  return { requests, isolates, bins: tally.bins };
}
