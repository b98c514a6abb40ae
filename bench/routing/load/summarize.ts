import { isRefusal } from "./ask.ts";
import type { LoadJob, LoadRun, Sample } from "./job.ts";
import { quantile, shareOf } from "./statistics.ts";

/** Result of a run. Shares are between 0 and 1, and NaN when they are shares of nothing. */
export interface LoadSummary {
  /** Requests that were sent in the measured window, or before it without having ended before it. */
  readonly requests: number;
  /** Answers within the budget per second. Without a budget: answers per second. */
  readonly goodput: number;
  /** Share of the requests that were answered within the budget. */
  readonly kept: number;
  /** Share of the requests that were not refused. */
  readonly admitted: number;
  /** Share of the admitted requests that were answered within the budget. */
  readonly keptOfAdmitted: number;
  /** Share of the answers that came within the budget, by their own header. NaN without a budget. */
  readonly headerKept: number;
  /** Share of the same answers that came within the budget, by the generator's clock. */
  readonly stopwatchKept: number;
  /** Requests that got neither an answer nor a refusal, but an error. */
  readonly lost: number;
  /** Latency of answers in ms. */
  readonly p50: number;
  readonly p99: number;
  /** Latency of refusals in ms. */
  readonly refusals: readonly number[];
  /** Measured time by predicted time, median. */
  readonly measuredByPredicted: number;
  /** Number of answers per tier, and of requests per reason or error code. */
  readonly tiers: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  readonly lagMs: number;
}

const isAnswer = ({ status }: Sample): boolean => status === 200;

/**
 * Summarizes the requests that had not ended when the measured window began. A request with a budget that has no answer at the end is late. Without
 * a budget it does not count.
 *
 * An answer of a tier that is not the pinned one is not kept.
 */
export function summarize({ budgetMs, pin, measuredMs }: LoadJob, { samples, lagMs }: LoadRun): LoadSummary {
  const inTime = ({ ms }: Sample) => ms !== undefined && ms <= (budgetMs ?? Number.POSITIVE_INFINITY);
  const isKept = (sample: Sample) => isAnswer(sample) && inTime(sample) && (pin === undefined || sample.tier === pin);
  const isEnded = ({ ms }: Sample) => ms !== undefined;
  const window = samples.filter(({ at, ms }) => (ms === undefined ? budgetMs !== undefined : at + ms >= 0));
  const answers = window.filter(isAnswer);
  const admitted = window.filter(({ status }) => !isRefusal(status));
  const kept = window.filter(isKept);
  const endsInside = ({ at, ms = 0 }: Sample) => at + ms < measuredMs;
  const described = answers.filter(({ remainingMs }) => remainingMs !== undefined);
  const count = (names: readonly (string | undefined)[]) => {
    const counts: Record<string, number> = {};
    for (const name of names) counts[name ?? "none"] = (counts[name ?? "none"] ?? 0) + 1;
    return counts;
  };
  return {
    requests: window.length,
    goodput: (1000 * kept.filter(endsInside).length) / measuredMs,
    kept: shareOf(kept.length, window.length),
    admitted: shareOf(admitted.length, window.length),
    keptOfAdmitted: shareOf(kept.length, admitted.length),
    headerKept: shareOf(described.filter(({ remainingMs = 0 }) => remainingMs >= 0).length, described.length),
    stopwatchKept: shareOf(described.filter(inTime).length, described.length),
    lost: window.filter((sample) => isEnded(sample) && !isAnswer(sample) && !isRefusal(sample.status)).length,
    p50: quantile(
      answers.map(({ ms = 0 }) => ms),
      0.5,
    ),
    p99: quantile(
      answers.map(({ ms = 0 }) => ms),
      0.99,
    ),
    refusals: window.filter(({ status }) => isRefusal(status)).map(({ ms = 0 }) => ms),
    measuredByPredicted: quantile(
      answers.flatMap(({ ms = 0, predictedMs }) => (predictedMs === undefined ? [] : [ms / predictedMs])),
      0.5,
    ),
    tiers: count(answers.map(({ tier }) => tier)),
    reasons: count(window.filter(isEnded).map(({ reason, code }) => reason ?? code)),
    lagMs,
  };
}
