import { availableParallelism } from "node:os";

import { startRegionProcess } from "#test/fixtures/region-process.ts";
import { median } from "../run-tool.ts";
import { compared } from "./compared.ts";
import { type Context, KEY } from "./context.ts";
import { figuresOfLoad } from "./load/figures.ts";
import type { LoadJob } from "./load/job.ts";
import { type LoadSummary, summarize } from "./load/summarize.ts";
import { percent, type Report, rounded } from "./report.ts";

const CLIENTS = 16;
const WARM_MS = 1_000;
const SHORT_WARM_MS = 100;
const BUDGET_MS = 100;

const schemes = {
  "a session, all cores": "0",
  "a session per core": `${availableParallelism()}`,
};

/** Measures how a region computes requests of mixed lengths: one after another on all cores, or one on each core. */
export async function sessions(context: Context): Promise<Report> {
  const { env, generator, options, stage } = context;
  const { rounds, seconds, seed, short } = options;
  await using started = new AsyncDisposableStack();
  const tiers: { name: string; url: string; free: LoadSummary[]; budget: LoadSummary[] }[] = [];
  for (const [name, count] of Object.entries(schemes)) {
    stage(name);
    const region = await startRegionProcess({ env: { ...env, SESSIONS: count } });
    started.defer(() => region.stop());
    await compared("region", region, context);
    tiers.push({ name, url: region.url, free: [], budget: [] });
  }
  for (let round = 0; round < rounds; round++) {
    for (const tier of tiers) {
      stage(`round ${round + 1}, ${tier.name}`);
      const measure = async (budgetMs: number | undefined) => {
        const job: LoadJob = {
          ...{ url: tier.url, key: KEY, traffic: { loop: "closed", clients: CLIENTS }, length: "mixed", budgetMs },
          ...{
            pin: undefined,
            seed: seed + round,
            warmMs: short ? SHORT_WARM_MS : WARM_MS,
            measuredMs: 1_000 * seconds,
          },
        };
        return summarize(job, await generator.run(job));
      };
      tier.free.push(await measure(undefined));
      tier.budget.push(await measure(BUDGET_MS));
    }
  }
  const of = (runs: readonly LoadSummary[], value: (run: LoadSummary) => number) => median(runs.map(value));
  const measured = tiers.map(({ name, free, budget }) => ({
    name,
    perSecond: of(free, ({ goodput }) => goodput),
    p50: of(free, ({ p50 }) => p50),
    p99: of(free, ({ p99 }) => p99),
    inBudget: of(budget, ({ goodput }) => goodput),
    keptOfAdmitted: of(budget, ({ keptOfAdmitted }) => keptOfAdmitted),
    lost: free.concat(budget).reduce((sum, { lost }) => sum + lost, 0),
  }));
  const [one, perCore] = measured as [(typeof measured)[0], (typeof measured)[0]];
  const ratio = perCore.perSecond / one.perSecond;
  const p99 = perCore.p99 / one.p99;
  return {
    headings: ["scheme", "texts/s", "p50 ms", "p99 ms", `texts/s within ${BUDGET_MS} ms`, "kept of admitted", "lost"],
    rows: measured.map(({ name, perSecond, p50, p99, inBudget, keptOfAdmitted, lost }) => [
      ...[name, rounded(perSecond, 1), rounded(p50, 1), rounded(p99, 1), rounded(inBudget, 1)],
      ...[percent(keptOfAdmitted), `${lost}`],
    ]),
    checks: [
      { what: "texts/s by those of one session", asked: "≥ 1.00", measured: rounded(ratio, 2), holds: ratio >= 1 },
      { what: "p99 by that of one session", asked: "≤ 1.00", measured: rounded(p99, 2), holds: p99 <= 1 },
      {
        what: `share of the admitted requests within ${BUDGET_MS} ms`,
        asked: "≥ 95 %",
        measured: percent(perCore.keptOfAdmitted),
        holds: perCore.keptOfAdmitted >= 0.95,
      },
    ],
    figures: tiers.flatMap(({ name, free, budget }) => [
      ...free.flatMap((run) => figuresOfLoad(name, run)),
      ...budget.flatMap((run) => figuresOfLoad(`${name}, ${BUDGET_MS} ms`, run)),
    ]),
    details: measured,
  };
}
