import type { Check } from "../checks.ts";
import type { PolicyName } from "./policies.ts";
import { binsToRecover, reversals } from "./recovery.ts";
import { BIN_MS, type Phases, type ScenarioResult, timesOf } from "./scenario.ts";
import { type Counts, sumOf } from "./tally.ts";

/** Shares of all requests of a phase, in percent. */
export interface Shares {
  readonly kept: number;
  readonly keptByEdge: number;
  readonly keptByRegion: number;
  readonly late: number;
  readonly refused: number;
  /** (hedges and retries + discarded runs) / answers. */
  readonly extraLoad: number;
  /** Answers within the budget, for each budget. */
  readonly keptByBudget: readonly number[];
}

/** Shares of the requests that can be answered by idle tiers, in percent. */
export interface Bounds {
  readonly both: number;
  readonly edge: number;
  readonly region: number;
  readonly byBudget: readonly number[];
}

export interface Recovery {
  readonly seconds: number;
  readonly reversals: number;
}

export const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);
const percent = (part: number, whole: number): number => (whole === 0 ? 0 : (100 * part) / whole);

/** Returns the bins of a phase. */
export function binsOf({ bins }: ScenarioResult, phases: Phases, phase: keyof Phases): readonly Counts[] {
  const { from, to } = timesOf(phases)[phase];
  return bins.slice(from / BIN_MS, to / BIN_MS);
}

export function sharesOf(bins: readonly Counts[]): Shares {
  const sum = sumOf(bins);
  const requests = total(sum.arrived);
  const [edge, region] = [total(sum.keptByEdge), total(sum.keptByRegion)];
  const late = sum.lateFromEdge + sum.lateFromRegion;
  return {
    kept: percent(edge + region, requests),
    keptByEdge: percent(edge, requests),
    keptByRegion: percent(region, requests),
    late: percent(late, requests),
    refused: percent(sum.refused, requests),
    extraLoad: percent(sum.extra + sum.discarded, edge + region + late),
    keptByBudget: sum.arrived.map((count, i) =>
      percent((sum.keptByEdge[i] as number) + (sum.keptByRegion[i] as number), count),
    ),
  };
}

export function boundsOf(bins: readonly Counts[]): Bounds {
  const sum = sumOf(bins);
  const requests = total(sum.arrived);
  return {
    both: percent(total(sum.answerable), requests),
    edge: percent(sum.edgeCould, requests),
    region: percent(sum.regionCould, requests),
    byBudget: sum.arrived.map((count, i) => percent(sum.answerable[i] as number, count)),
  };
}

/** Measures how a deployment recovers in a phase after a disturbance. */
export function recoveryOf(result: ScenarioResult, phases: Phases, phase: "afterOutage" | "afterCrowd"): Recovery {
  const steady = sharesOf(binsOf(result, phases, "steady")).kept;
  const bins = binsOf(result, phases, phase).map((bin) => sharesOf([bin]));
  return {
    seconds:
      (binsToRecover(
        bins.map(({ kept }) => kept),
        steady,
      ) *
        BIN_MS) /
      1_000,
    reversals: reversals(bins.map(({ kept, keptByRegion }) => percent(keptByRegion, kept))),
  };
}

/** Limits of the checks. Shares are in points. */
const MAX_LOSS = 2;
const MIN_LOSS_OF_ONE_TIER = 5;
const MAX_EXTRA_LOAD = 5;
const MAX_RECOVERY_S = 5;
const MAX_REVERSALS = 2;

const atMost = (what: string, value: number, limit: number, unit: string): Check => ({
  what,
  asked: `≤ ${limit}${unit}`,
  measured: `${value.toFixed(2)}${unit}`,
  holds: value <= limit,
});

/** @param oneTierFails whether a single tier is expected to answer far less than both: not for small models */
export function checksOf(
  oneTierFails: boolean,
  bounds: Bounds,
  steady: Readonly<Record<PolicyName, Shares>>,
  recoveries: Readonly<Record<"outage" | "crowd", Recovery>>,
): Check[] {
  const own = steady["bert-edge"];
  return [
    atMost("bound − bert-edge", bounds.both - own.kept, MAX_LOSS, " points"),
    atMost("extra load", own.extraLoad, MAX_EXTRA_LOAD, " %"),
    ...(oneTierFails ? (["edge-only", "region-only"] as const) : []).map((name) => {
      const loss = bounds.both - steady[name].kept;
      const measured = `${loss.toFixed(2)} points`;
      return {
        what: `bound − ${name}`,
        asked: `≥ ${MIN_LOSS_OF_ONE_TIER} points`,
        measured,
        holds: loss >= MIN_LOSS_OF_ONE_TIER,
      };
    }),
    ...(["crowd", "outage"] as const).flatMap((name) => [
      atMost(`recovery after the ${name}`, recoveries[name].seconds, MAX_RECOVERY_S, " s"),
      atMost(`reversals after the ${name}`, recoveries[name].reversals, MAX_REVERSALS, ""),
    ]),
  ];
}
