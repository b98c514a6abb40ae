import { describe, expect, it } from "vitest";
import { type Bounds, binsOf, boundsOf, type Shares, sharesOf } from "./figures.ts";
import type { PolicyName } from "./policies.ts";
import { type Phases, runScenario } from "./scenario.ts";

/** Isolates start in the first seconds, and their first calls are slow. */
const phases: Phases = { warmUp: 6, steady: 3, crowd: 0, afterCrowd: 0, outage: 0, afterOutage: 0 };

function steady(policy: PolicyName): Shares & { bounds: Bounds } {
  const result = runScenario({ model: "base", policy, rate: 5_000, phases, seed: 1 });
  const bins = binsOf(result, phases, "steady");
  return { ...sharesOf(bins), bounds: boundsOf(bins) };
}

describe("BERT-base with 5,000 requests a second", () => {
  const own = steady("bert-edge");

  it("stays within three points of the bound, with at most 5 % extra load", () => {
    // Few requests come to each isolate, so that first calls are a larger share than at 100,000 requests a second.
    expect(own.bounds.both - own.kept).toBeLessThanOrEqual(3);
    expect(own.bounds.both - own.kept).toBeGreaterThanOrEqual(0);
    expect(own.extraLoad).toBeLessThanOrEqual(5);
  });

  it.each(["edge-only", "region-only", "random"] as const)("keeps at least five points less with %s", (policy) => {
    const other = steady(policy);
    expect(other.bounds).toEqual(own.bounds);
    expect(other.kept).toBeLessThanOrEqual(own.bounds.both - 5);
  });

  it("gives the same result again", () => {
    expect(steady("bert-edge")).toEqual(own);
  });
});
