import type { LatencyFit } from "#sdk/artifact/measurements.ts";
import { predictLatency } from "#sdk/serve/answering/plan.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import type { SimulatedModel } from "./models.ts";
import type { Request } from "./request.ts";
import { workload } from "./workload.ts";

/** Shortest and longest round trip between a point and a region, in ms. */
const [SHORTEST_MS, LONGEST_MS] = [8, 180];

/** Exponent of Zipf's law for the shares of the points. */
const SKEW = 0.9;

/** How much slower the two generations of machines are than the one that measured the models. */
const SPEEDS = [1.25, 2.5] as const;

/** Isolates of a point, per isolate that would be busy all the time with the requests that the edge can answer. */
const EDGE_HEADROOM = 2;
const SPARE_ISOLATES = 4;

/** Share of a region's time that the requests take that no edge can answer in time. */
const REGION_LOAD = 0.6;

/** Time between two turns of an engine, in ms. A timer of workerd takes one millisecond. */
const EDGE_GAP_MS = 1;
const REGION_GAP_MS = 0.2;

/** Requests from which the size of the deployment is computed. */
const SAMPLE = 200_000;

/** Places of the regions on a square map of the world. */
const REGIONS = [
  [0.2, 0.35],
  [0.55, 0.7],
  [0.85, 0.3],
] as const;

/** A point of presence. */
export interface PointPlan {
  /** How much slower its machines are than the one that measured the model. */
  readonly slowness: number;
  readonly maxIsolates: number;
  /** Shortest round trip to every region. */
  readonly roundTripMs: readonly number[];
  /** Index of the region with the shortest round trip. */
  readonly nearest: number;
}

export interface RegionPlan {
  readonly machines: number;
  readonly outage?: { readonly from: number; readonly to: number } | undefined;
}

/** A deployment with its surroundings. Times are in milliseconds. */
export interface World {
  readonly model: Pick<SimulatedModel, "edge" | "regionalCpu" | "region" | "coldStartMs">;
  readonly edgeGapMs: number;
  readonly regionGapMs: number;
  readonly points: readonly PointPlan[];
  readonly regions: readonly RegionPlan[];
}

export interface WorldOptions {
  seed: number;
  model: SimulatedModel;
  points: number;
  /** Requests per second of all points together. */
  rate: number;
}

/** Returns the milliseconds of a text on a machine that is `slowness` times as slow as the measured one. */
export const textMs = (fit: LatencyFit, tokens: number, slowness: number, noise: number): number =>
  predictLatency(fit, [tokens]) * slowness * noise;

/** Draws a world, and gives it as many machines as its usual load needs. */
export function drawWorld({ seed, model, points, rate }: WorldOptions): { world: World; rates: number[] } {
  const random = randomNumbers(seed);
  const shares = Array.from({ length: points }, (_, rank) => (rank + 1) ** -SKEW);
  const total = shares.reduce((sum, share) => sum + share, 0);
  const rates = shares.map((share) => (rate * share) / total);
  const places = rates.map(() => {
    const [x, y] = [random(), random()];
    const roundTripMs = REGIONS.map(
      ([rx, ry]) => SHORTEST_MS + ((LONGEST_MS - SHORTEST_MS) * Math.hypot(x - rx, y - ry)) / Math.SQRT2,
    );
    const slowness = SPEEDS[random() < 0.5 ? 0 : 1];
    return { slowness, roundTripMs, nearest: roundTripMs.indexOf(Math.min(...roundTripMs)) };
  });

  const edgeMs = places.map(() => 0);
  const regionMs = REGIONS.map(() => 0);
  const draw = workload({ seed, rates });
  let last: Request | undefined;
  for (let i = 0; i < SAMPLE; i++) {
    last = draw();
    const { point, tokens, budgetMs } = last;
    const place = places[point] as (typeof places)[number];
    const ms = textMs(model.edge, tokens, place.slowness, 1);
    if (ms <= budgetMs) edgeMs[point] = (edgeMs[point] as number) + ms + EDGE_GAP_MS;
    else {
      const needed = textMs(model.region, tokens, 1, 1) + REGION_GAP_MS;
      regionMs[place.nearest] = (regionMs[place.nearest] as number) + needed;
    }
  }
  const sampleMs = (last as Request).at;
  return {
    rates,
    world: {
      model,
      edgeGapMs: EDGE_GAP_MS,
      regionGapMs: REGION_GAP_MS,
      points: places.map((place, point) => ({
        ...place,
        maxIsolates: SPARE_ISOLATES + Math.ceil((EDGE_HEADROOM * (edgeMs[point] as number)) / sampleMs),
      })),
      regions: regionMs.map((ms) => ({ machines: Math.max(2, Math.ceil(ms / sampleMs / REGION_LOAD)) })),
    },
  };
}
