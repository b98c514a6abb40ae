import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { figuresOf } from "../figures.ts";
import { writeRandomBert } from "../random-checkpoint.ts";
import { type Context, KEY, openContext } from "./context.ts";
import { idleMs, settle } from "./idle.ts";
import { figuresOfLoad } from "./load/figures.ts";
import type { LoadJob, Traffic } from "./load/job.ts";
import { quantile } from "./load/statistics.ts";
import { type LoadSummary, summarize } from "./load/summarize.ts";
import { drawTexts } from "./load/texts.ts";
import { countsOf, percent, type Report, rounded } from "./report.ts";
import { startRegion } from "./tiers.ts";

/** A distilled model of the width of BERT-base. */
const SIZE = { layers: 3, width: 768 };
const SHORT_SIZE = { layers: 1, width: 64 };
const LENGTH = { tokens: 128 };
/** Requests by the region's capacity. */
const LOADS = [0.5, 1, 2, 3];
const SHORT_LOADS = [1, 3];
/** Budgets by the time of one text on an idle region. */
const BUDGETS = [3, 12];
const SHORT_BUDGETS = [3];
const WARM_MS = 500;
const SHORT_WARM_MS = 100;
const [MIN_KEPT, MAX_SILENT] = [0.95, 0.05];

/** Measures a region alone, on its CPU, while more requests come than it can answer. */
export async function overload({ options, stage, figures }: Context): Promise<Report> {
  const size = options.short ? SHORT_SIZE : SIZE;
  await using opened = new AsyncDisposableStack();
  const folder = opened.adopt(await mkdtemp(join(tmpdir(), "bert-edge-overload-")), (path) =>
    rm(path, { recursive: true }),
  );
  stage("random weights");
  const model = await writeRandomBert(folder, size, "overload");
  const context = opened.adopt(await openContext({ ...options, model }, { stage, figures }), ({ close }) => close());
  const { url } = opened.adopt(await startRegion(context), ({ stop }) => stop());
  const { seconds, rounds, seed } = options;

  async function run(traffic: Traffic, budgetMs: number | undefined, round = 0): Promise<LoadSummary> {
    const job: LoadJob = {
      ...{ url, key: KEY, traffic, length: LENGTH, budgetMs, pin: undefined, seed: seed + round },
      ...{ warmMs: options.short ? SHORT_WARM_MS : WARM_MS, measuredMs: 1000 * seconds },
    };
    const summary = summarize(job, await context.generator.run(job));
    await settle([url]);
    return summary;
  }

  stage("capacity");
  const oneText = await idleMs(url, drawTexts(LENGTH, randomNumbers(seed)));
  const { goodput: capacity } = await run({ loop: "closed", clients: 8 }, undefined);
  const [budgets, loads] = options.short ? [SHORT_BUDGETS, SHORT_LOADS] : [BUDGETS, LOADS];
  const points = budgets.flatMap((budget) => loads.map((load) => ({ load, budgetMs: Math.round(budget * oneText) })));
  const measured = points.map((point) => ({ ...point, rounds: [] as LoadSummary[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { load, budgetMs, rounds: results } of measured) {
      stage(`round ${round + 1}, ${load}× with ${budgetMs} ms`);
      results.push(await run({ loop: "open", perSecond: load * capacity }, budgetMs, round));
    }
  }

  const verdicts = measured.map(({ rounds: results, ...point }) => {
    const median = (figure: (summary: LoadSummary) => number) => quantile(results.map(figure), 0.5);
    return {
      ...point,
      goodput: median(({ goodput }) => goodput),
      kept: median(({ kept }) => kept),
      keptOfAdmitted: median(({ keptOfAdmitted }) => keptOfAdmitted),
      // Answers that were late although their header says that they are in time.
      silent: median(({ headerKept, stopwatchKept }) => Math.max(0, headerKept - stopwatchKept)),
      lost: results.reduce((sum, { lost }) => sum + lost, 0),
      p99: median(({ p99 }) => p99),
      refusalMs: quantile(
        results.flatMap(({ refusals }) => refusals),
        0.5,
      ),
      last: results.at(-1) as LoadSummary,
    };
  });
  const worst = (figure: (verdict: (typeof verdicts)[number]) => number) => Math.min(...verdicts.map(figure));
  const mostSilent = Math.max(...verdicts.map(({ silent }) => silent));
  const lost = verdicts.reduce((sum, verdict) => sum + verdict.lost, 0);
  return {
    headings: [
      ...["load", "budget ms", "requests/s", "in time/s", "in time", "of admitted", "late unsaid", "lost", "p99 ms"],
      ...["refusal ms", "last"],
    ],
    rows: verdicts.map((verdict) => [
      `${verdict.load}×`,
      `${verdict.budgetMs}`,
      rounded(verdict.load * capacity, 1),
      rounded(verdict.goodput, 1),
      percent(verdict.kept),
      percent(verdict.keptOfAdmitted),
      percent(verdict.silent),
      `${verdict.lost}`,
      rounded(verdict.p99),
      rounded(verdict.refusalMs, 1),
      countsOf(verdict.last.reasons),
    ]),
    checks: [
      {
        what: "share of admitted requests in time, at every point",
        asked: `≥ ${percent(MIN_KEPT)}`,
        measured: percent(worst(({ keptOfAdmitted }) => keptOfAdmitted)),
        holds: worst(({ keptOfAdmitted }) => keptOfAdmitted) >= MIN_KEPT,
      },
      {
        what: "answers that are late by the stopwatch and in time by their header",
        asked: `≤ ${percent(MAX_SILENT)}`,
        measured: percent(mostSilent),
        holds: mostSilent <= MAX_SILENT,
      },
      { what: "requests lost", asked: "0", measured: `${lost}`, holds: lost === 0 },
    ],
    figures: [
      ...figuresOf("idle", { "one text": [oneText, "ms"], capacity: [capacity, "per second"] }),
      ...verdicts.flatMap(({ load, budgetMs, last }) => figuresOfLoad(`${load}× with ${budgetMs} ms`, last)),
    ],
    details: { model: size, ...LENGTH, capacity, oneText, points: measured },
  };
}
