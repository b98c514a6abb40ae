import type { Check } from "../../checks.ts";
import { geometricMean, quantile, shareOf } from "../load/statistics.ts";
import type { LoadSummary } from "../load/summarize.ts";
import { percent, rounded } from "../report.ts";
import { nameOf, type Point } from "./points.ts";

/** How requests are routed in a run: one tier is pinned, or the edge chooses. */
export const modes = ["edge", "region", "auto"] as const;
export type Mode = (typeof modes)[number];

/** Summaries of a point, one per round and mode. */
export interface MeasuredPoint {
  readonly point: Point;
  readonly rounds: readonly Readonly<Record<Mode, LoadSummary>>[];
  /** Maximum time of a refusal in ms: one text's computation and some slack. */
  readonly refusalLimitMs: number;
}

/** Comparison of the edge's own choice with the better pinned tier, at one point. */
export interface Verdict {
  readonly point: Point;
  /** The pinned tier with the higher median goodput. */
  readonly baseline: "edge" | "region";
  /** Median goodput per second. */
  readonly goodput: Readonly<Record<Mode, number>>;
  /** Median of the rounds' ratios of goodput, auto by baseline. */
  readonly ratio: number;
  /** Whether the point counts: a baseline answers at least one request per second. */
  readonly counts: boolean;
  readonly admitted: number;
  readonly baselineKept: number;
  readonly keptOfAdmitted: number;
  readonly headerKept: number;
  readonly stopwatchKept: number;
  readonly lost: number;
  /** Share of the refusals within the limit; NaN without refusals. */
  readonly quickRefusals: number;
  /** Share of the pinned answers that came from the pinned tier. */
  readonly pinned: number;
}

const MIN_RATIO = 0.85;
const MIN_MEAN = 1;
const MIN_KEPT_OF_ADMITTED = 0.95;
const MAX_HEADER_ERROR = 0.05;
const MIN_COUNTED = 1;
const MIN_QUICK_REFUSALS = 0.95;

const median = (values: readonly number[]): number => quantile(values, 0.5);
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function judge({ point, rounds, refusalLimitMs }: MeasuredPoint): Verdict {
  const over = (mode: Mode, figure: (summary: LoadSummary) => number) =>
    median(rounds.map((round) => figure(round[mode])));
  const all = (figure: (summary: LoadSummary) => number) => over("auto", figure);
  const goodput = Object.fromEntries(modes.map((mode) => [mode, over(mode, (summary) => summary.goodput)])) as Record<
    Mode,
    number
  >;
  const baseline = goodput.region > goodput.edge ? "region" : "edge";
  const refusals = rounds.flatMap(({ auto }) => auto.refusals);
  const pinned = rounds.flatMap((round) =>
    (["edge", "region"] as const).map((mode) => ({
      own: round[mode].tiers[mode] ?? 0,
      all: sum(Object.values(round[mode].tiers)),
    })),
  );
  return {
    point,
    baseline,
    goodput,
    ratio: median(rounds.map((round) => round.auto.goodput / round[baseline].goodput)),
    counts: goodput[baseline] >= MIN_COUNTED,
    admitted: all(({ admitted }) => admitted),
    baselineKept: over(baseline, ({ kept }) => kept),
    keptOfAdmitted: all(({ keptOfAdmitted }) => keptOfAdmitted),
    headerKept: all(({ headerKept }) => headerKept),
    stopwatchKept: all(({ stopwatchKept }) => stopwatchKept),
    lost: sum(rounds.map(({ auto }) => auto.lost)),
    quickRefusals: shareOf(refusals.filter((ms) => ms <= refusalLimitMs).length, refusals.length),
    pinned: shareOf(sum(pinned.map(({ own }) => own)), sum(pinned.map(({ all }) => all))),
  };
}

/** Compares all points with what is asked. */
export function checksOf(verdicts: readonly Verdict[]): Check[] {
  const counted = verdicts.filter(({ counts }) => counts);
  const mean = geometricMean(counted.map(({ ratio }) => ratio));
  const everywhere = (what: string, asked: string, figure: (verdict: Verdict) => number, least: number): Check => {
    const known = verdicts.filter((verdict) => !Number.isNaN(figure(verdict)));
    const failed = known.filter((verdict) => figure(verdict) < least);
    const worst = known.toSorted((a, b) => figure(a) - figure(b))[0];
    return {
      what,
      asked,
      measured: worst ? `${rounded(figure(worst), 2)} at ${nameOf(worst.point)}, ${failed.length} below` : "–",
      holds: failed.length === 0,
    };
  };
  const withBudget = (figure: (verdict: Verdict) => number) => (verdict: Verdict) =>
    verdict.point.budgetMs === undefined ? Number.NaN : figure(verdict);
  return [
    {
      what: "goodput by the better baseline, geometric mean",
      asked: `≥ ${MIN_MEAN.toFixed(2)}`,
      measured: `${rounded(mean, 3)} of ${counted.length} points`,
      holds: mean >= MIN_MEAN,
    },
    everywhere(
      "goodput by the better baseline, minimum",
      `≥ ${MIN_RATIO}`,
      ({ counts, ratio }) => (counts ? ratio : Number.NaN),
      MIN_RATIO,
    ),
    everywhere(
      "admitted share minus the baseline's kept share",
      "≥ 0",
      withBudget(({ admitted, baselineKept }) => admitted - baselineKept),
      0,
    ),
    everywhere(
      "share of the admitted requests within budget",
      `≥ ${percent(MIN_KEPT_OF_ADMITTED)}`,
      withBudget(({ keptOfAdmitted }) => keptOfAdmitted),
      MIN_KEPT_OF_ADMITTED,
    ),
    everywhere(
      "share of the refusals within one text's time + 10 ms",
      `≥ ${percent(MIN_QUICK_REFUSALS)}`,
      ({ quickRefusals }) => quickRefusals,
      MIN_QUICK_REFUSALS,
    ),
    everywhere(
      "stopwatch share minus header share of answers within budget",
      `within ${percent(MAX_HEADER_ERROR)}`,
      ({ headerKept, stopwatchKept }) => -Math.abs(headerKept - stopwatchKept),
      -MAX_HEADER_ERROR,
    ),
    everywhere("requests without an answer or a refusal", "0", ({ lost }) => -lost, 0),
    everywhere("share of pinned answers from the pinned tier", "1", ({ pinned }) => pinned, 1),
  ];
}
