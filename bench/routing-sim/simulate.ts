import { couldAnswer } from "./bound.ts";
import { virtualClock } from "./clock.ts";
import { simulatedPoint } from "./point.ts";
import type { Policy } from "./policies.ts";
import { simulatedRegion } from "./region.ts";
import type { Request } from "./request.ts";
import { newTally, type Tally } from "./tally.ts";
import type { World } from "./world.ts";

/** Time after the last arrival in which requests can still be answered in their budget. */
const END_MS = 5_000;

export interface Simulation {
  readonly tally: Tally;
  /** Isolates that were started. */
  readonly isolates: number;
  readonly requests: number;
}

export interface SimulateOptions {
  world: World;
  /** Returns the next request. */
  arrivals: () => Request;
  policy: Policy;
  /** Decides what is left to chance in the world: the machine that a load balancer takes. */
  random: () => number;
  lengthMs: number;
  binMs: number;
}

/** Runs a policy in a world. */
export function simulate({ world, arrivals, policy, random, lengthMs, binMs }: SimulateOptions): Simulation {
  const clock = virtualClock();
  const tally = newTally(binMs, lengthMs);
  const regions = world.regions.map((plan) => simulatedRegion(clock, world, plan, random));
  const points = world.points.map((plan) => simulatedPoint({ clock, world, plan, regions, policy, tally }));
  let requests = 0;
  for (let arrival = arrivals(); arrival.at < lengthMs; arrival = arrivals()) {
    clock.runUntil(arrival.at);
    requests++;
    tally.arrived(arrival, couldAnswer(world, arrival));
    points[arrival.point]?.receive(arrival);
  }
  clock.runUntil(lengthMs + END_MS);
  return { tally, requests, isolates: points.reduce((sum, point) => sum + point.isolates(), 0) };
}
