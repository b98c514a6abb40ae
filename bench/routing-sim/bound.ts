import type { Request } from "./request.ts";
import { type RegionPlan, textMs, type World } from "./world.ts";

/**
 * Returns which tiers could answer a request within its budget if they were idle, and if everything about the request were
 * known. No policy keeps another request's budget: the proof is in docs/routing.md.
 */
export function couldAnswer(world: World, request: Request): { edge: boolean; region: boolean } {
  const { point, tokens, budgetMs, edgeNoise } = request;
  const plan = world.points[point] as World["points"][number];
  const computeMs = textMs(world.model.region, tokens, 1, request.regionNoise);
  return {
    edge: textMs(world.model.edge, tokens, plan.slowness, edgeNoise) <= budgetMs,
    region: world.regions.some((region, index) => {
      const oneWayMs = ((plan.roundTripMs[index] as number) / 2) * request.jitter;
      const computed = request.at + oneWayMs + computeMs;
      return firstReply(region, computed) + oneWayMs - request.at <= budgetMs;
    }),
  };
}

/** Returns the first time at which a region can reply to a request that is computed at `computed`, or later. */
function firstReply({ outage }: RegionPlan, computed: number): number {
  return outage && computed >= outage.from && computed < outage.to ? outage.to : computed;
}
