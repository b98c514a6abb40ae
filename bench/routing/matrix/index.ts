import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type Context, KEY } from "../context.ts";
import { idleMs, settle } from "../idle.ts";
import { figuresOfLoad } from "../load/figures.ts";
import type { LoadJob, Traffic } from "../load/job.ts";
import { quantile } from "../load/statistics.ts";
import { type LoadSummary, summarize } from "../load/summarize.ts";
import { drawTexts } from "../load/texts.ts";
import { countsOf, percent, type Report, rounded } from "../report.ts";
import { startTiers } from "../tiers.ts";
import { checksOf, judge, type MeasuredPoint, type Mode, modes } from "./judge.ts";
import { nameOf, type Point, points, quickPoints, shortPoints } from "./points.ts";

const WARM_MS = 500;
const SHORT_WARM_MS = 100;
/** A region in the same city: the shortest way that the simulator knows, 8 ms there and back. */
const NEAR = { delayMs: 4, jitterMs: 1 };
/** Time of a refusal beyond one text's computation. */
const REFUSAL_SLACK_MS = 10;

/** Compares the edge's own choice of the tier with both pinned tiers, under load. */
export async function matrix(context: Context): Promise<Report> {
  const { generator, options, stage } = context;
  const { short, quick, seconds, rounds, seed, points: chosen } = options;
  await using tiers = await startTiers(context);
  const { edge, proxy } = tiers;
  proxy.change(NEAR);
  const all = short ? shortPoints : quick ? quickPoints : points;
  const cases = all.filter((point) => chosen.some((part) => nameOf(point).includes(part)));

  async function run(
    mode: Mode,
    traffic: Traffic,
    { length, budgetMs }: Pick<Point, "length" | "budgetMs">,
    round = 0,
  ) {
    const job: LoadJob = {
      url: edge.url,
      key: KEY,
      traffic,
      length,
      budgetMs,
      pin: mode === "auto" ? undefined : mode,
      seed: seed + round,
      warmMs: short ? SHORT_WARM_MS : WARM_MS,
      measuredMs: 1000 * seconds,
    };
    const summary = summarize(job, await generator.run(job));
    await settle([edge.url, tiers.region.url]);
    return summary;
  }

  const lengths = ["short", "long"] as const;
  const capacity = { short: 0, long: 0 };
  const oneText = { short: 0, long: 0 };
  for (const length of lengths) {
    stage(`capacity, ${length}`);
    await settle([edge.url, tiers.region.url]);
    oneText[length] = await idleMs(edge.url, drawTexts(length, randomNumbers(seed)));
    for (const mode of ["edge", "region"] as const) {
      const { goodput } = await run(mode, { loop: "closed", clients: 8 }, { length, budgetMs: undefined });
      capacity[length] = Math.max(capacity[length], goodput);
    }
  }

  const trafficOf = ({ loop, load, length }: Point): Traffic =>
    loop === "closed" ? { loop, clients: load } : { loop, perSecond: load * capacity[length] };
  const measured = cases.map((point) => ({
    point,
    rounds: [] as Record<Mode, LoadSummary>[],
    refusalLimitMs: oneText[point.length] + REFUSAL_SLACK_MS,
  }));
  for (let round = 0; round < rounds; round++) {
    for (const [i, { point, rounds: results }] of measured.entries()) {
      stage(`round ${round + 1}, ${nameOf(point)}`);
      const result = {} as Record<Mode, LoadSummary>;
      // Each mode comes first, second and last equally often.
      const order = modes.map((_, at) => modes[(at + round + i) % modes.length] as Mode);
      for (const mode of order) result[mode] = await run(mode, trafficOf(point), point, round);
      results.push(result);
    }
  }
  return reportOf(measured, { capacity, oneText });
}

function reportOf(measured: readonly MeasuredPoint[], basis: Record<string, Record<string, number>>): Report {
  const verdicts = measured.map(judge);
  const last = (i: number, mode: Mode) => measured[i]?.rounds.at(-1)?.[mode] as LoadSummary;
  const auto = (i: number, figure: (summary: LoadSummary) => number) =>
    quantile(measured[i]?.rounds.map((round) => figure(round.auto)) ?? [], 0.5);
  return {
    headings: [
      ...["point", "edge/s", "region/s", "auto/s", "ratio", "admitted", "baseline kept", "kept of admitted"],
      ...[
        "header",
        "stopwatch",
        "p50 ms",
        "p99 ms",
        "refusals p50/p99",
        "measured/predicted",
        "lost",
        "lag ms",
        "last",
      ],
    ],
    rows: verdicts.map((verdict, i) => {
      const { point, goodput, ratio, counts } = verdict;
      const refusals = measured[i]?.rounds.flatMap(({ auto }) => auto.refusals) ?? [];
      return [
        nameOf(point),
        ...modes.map((mode) => rounded(goodput[mode], 1)),
        counts ? rounded(ratio, 2) : "not counted",
        percent(verdict.admitted),
        percent(verdict.baselineKept),
        percent(verdict.keptOfAdmitted),
        percent(verdict.headerKept),
        percent(verdict.stopwatchKept),
        rounded(auto(i, ({ p50 }) => p50)),
        rounded(auto(i, ({ p99 }) => p99)),
        refusals.length === 0 ? "–" : `${rounded(quantile(refusals, 0.5))}/${rounded(quantile(refusals, 0.99))}`,
        rounded(
          auto(i, ({ measuredByPredicted }) => measuredByPredicted),
          1,
        ),
        `${verdict.lost}`,
        rounded(
          auto(i, ({ lagMs }) => lagMs),
          1,
        ),
        `${countsOf(last(i, "auto").tiers)}; ${countsOf(last(i, "auto").reasons)}`,
      ];
    }),
    checks: checksOf(verdicts),
    figures: [
      ...measured.flatMap(({ point }, i) =>
        modes.flatMap((mode) => figuresOfLoad(`${nameOf(point)}, ${mode}`, last(i, mode))),
      ),
    ],
    details: { ...basis, points: measured },
  };
}
