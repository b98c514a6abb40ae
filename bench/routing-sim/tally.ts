import type { Request } from "./request.ts";
import { budgets } from "./workload.ts";

/** Counts of the requests that arrived in an interval. */
export interface Counts {
  /** Requests, by budget. */
  arrived: number[];
  /** Requests that an oracle could answer in time, by budget. */
  answerable: number[];
  /** Requests that the edge, or the region, could answer in time if it were idle. */
  edgeCould: number;
  regionCould: number;
  /** Answers within their budget, by budget. */
  keptByEdge: number[];
  keptByRegion: number[];
  lateFromEdge: number;
  lateFromRegion: number;
  refused: number;
  /** Requests to regions besides others. */
  extra: number;
  /** Computations whose result nobody used. */
  discarded: number;
}

const none = (): Counts => ({
  arrived: budgets.map(() => 0),
  answerable: budgets.map(() => 0),
  edgeCould: 0,
  regionCould: 0,
  keptByEdge: budgets.map(() => 0),
  keptByRegion: budgets.map(() => 0),
  lateFromEdge: 0,
  lateFromRegion: 0,
  refused: 0,
  extra: 0,
  discarded: 0,
});

const increase = (counts: number[], index: number) => {
  counts[index] = (counts[index] as number) + 1;
};

export interface Tally {
  arrived(request: Request, could: { edge: boolean; region: boolean }): void;
  ended(request: Request): void;
  /** Counts a request to a region that is sent besides another one: a hedge, or a retry in another region. */
  extra(request: Request): void;
  discarded(request: Request): void;
  /** Counts of every bin. */
  readonly bins: readonly Counts[];
}

/** Counts requests in bins of their time of arrival. */
export function newTally(binMs: number, lengthMs: number): Tally {
  const bins = Array.from({ length: Math.ceil(lengthMs / binMs) }, none);
  const binOf = ({ at }: Request) => bins[Math.min(Math.floor(at / binMs), bins.length - 1)] as Counts;
  return {
    bins,
    arrived(request, could) {
      const bin = binOf(request);
      increase(bin.arrived, request.budgetIndex);
      if (could.edge) bin.edgeCould++;
      if (could.region) bin.regionCould++;
      if (could.edge || could.region) increase(bin.answerable, request.budgetIndex);
    },
    ended(request) {
      const { outcome, at, budgetMs, budgetIndex } = request;
      const bin = binOf(request);
      if (!outcome?.tier) bin.refused++;
      else if (outcome.at - at <= budgetMs) {
        increase(outcome.tier === "edge" ? bin.keptByEdge : bin.keptByRegion, budgetIndex);
      } else if (outcome.tier === "edge") bin.lateFromEdge++;
      else bin.lateFromRegion++;
    },
    extra: (request) => void binOf(request).extra++,
    discarded: (request) => void binOf(request).discarded++,
  };
}

/** Adds up bins. */
export function sumOf(bins: readonly Counts[]): Counts {
  const total = none();
  for (const bin of bins) {
    for (const key of Object.keys(total) as (keyof Counts)[]) {
      const [sum, more] = [total[key], bin[key]];
      if (typeof sum === "number") (total as unknown as Record<string, number>)[key] = sum + (more as number);
      else for (const [i, count] of (more as number[]).entries()) sum[i] = (sum[i] as number) + count;
    }
  }
  return total;
}
