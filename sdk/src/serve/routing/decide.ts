import type { Reason, Tier } from "../contract/headers.ts";

/** Input of a decision. Times are in milliseconds. */
export interface Situation {
  /** Remaining budget of the caller; undefined without a budget. */
  readonly remainingMs: number | undefined;
  readonly edge: {
    /** Whether the model is loaded. */
    readonly ready: boolean;
    /** Predicted time of the edge; undefined without a measurement, or while the model is not loaded. */
    readonly predictedMs: number | undefined;
    readonly cpuLimitMs: number;
  };
  readonly region: "none" | "down" | { readonly predictedMs: number };
}

export interface Decision {
  readonly tier: Tier;
  readonly reason: Reason;
  readonly predictedMs: number | undefined;
}

/**
 * Chooses the tier. The edge is preferred if it can answer in time, because an answer of the edge has no extra cost and
 * needs no network.
 */
export function decide({ remainingMs, edge, region }: Situation): Decision {
  const atEdge = (reason: Reason): Decision => ({ tier: "edge", reason, predictedMs: edge.predictedMs });
  if (region === "none") return atEdge("only-tier");

  const inRegion = (reason: Reason): Decision =>
    region === "down" ? atEdge("region-down") : { tier: "region", reason, predictedMs: region.predictedMs };
  if (!edge.ready) return inRegion("edge-cold");

  const edgeMs = edge.predictedMs ?? 0;
  if (edgeMs > edge.cpuLimitMs) return inRegion("edge-cpu-limit");
  if (remainingMs === undefined) return atEdge("no-budget");
  if (edgeMs <= remainingMs) return atEdge("within-budget");
  if (region === "down") return atEdge("region-down");
  if (region.predictedMs <= remainingMs) return inRegion("edge-over-budget");
  return edgeMs <= region.predictedMs ? atEdge("over-budget") : inRegion("over-budget");
}
