import type { LoadRun, Sample } from "../load/job.ts";
import { shareOf } from "../load/statistics.ts";

const keyOf = ({ client, turn }: Sample): string => `${client} ${turn}`;
const isKept = ({ status, ms }: Sample, budgetMs: number): boolean =>
  status === 200 && ms !== undefined && ms <= budgetMs;

/**
 * Returns the share of requests that an oracle answers within the budget. The oracle knows the measured times of both
 * pinned tiers. It keeps a budget if either tier kept it for the same client and turn. Requests that only one of the two
 * runs has are left out.
 */
export function oracleShare(edge: LoadRun, region: LoadRun, budgetMs: number): number {
  const inRegion = new Map(region.samples.map((sample) => [keyOf(sample), sample]));
  const pairs = edge.samples.flatMap((atEdge) => {
    const other = inRegion.get(keyOf(atEdge));
    return other ? [[atEdge, other] as const] : [];
  });
  const kept = pairs.filter((pair) => pair.some((sample) => isKept(sample, budgetMs)));
  return shareOf(kept.length, pairs.length);
}
