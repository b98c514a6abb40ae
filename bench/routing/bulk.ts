import { setTimeout as sleep } from "node:timers/promises";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import { type Context, KEY } from "./context.ts";
import { figuresOfLoad } from "./load/figures.ts";
import type { LoadJob } from "./load/job.ts";
import { summarize } from "./load/summarize.ts";
import { countsOf, percent, type Report, rounded } from "./report.ts";
import { startEdgeAlone, startRegion, startTiers } from "./tiers.ts";

const TEXTS = 1_000;
const SHORT_TEXTS = 100;
const BUDGET_MS = 50;
const PER_SECOND = 20;
const MIN_KEPT = 0.9;
/** Time from the large request to the first small one. */
const HEAD_START_MS = 300;

const cases = [
  { name: "edge alone", start: startEdgeAlone },
  { name: "region", start: startRegion },
  {
    name: "edge with region",
    async start(context: Context) {
      const tiers = await startTiers(context);
      return { url: tiers.edge.url, stop: () => tiers[Symbol.asyncDispose]() };
    },
  },
];

/** Measures requests of one word with a budget, while requests of 1,000 texts without a budget are computed. */
export async function bulkBeside(context: Context): Promise<Report> {
  const measured = [];
  for (const { name, start } of cases) {
    context.stage(name);
    const tier = await start(context);
    try {
      measured.push({ name, ...(await measure(tier.url, context)) });
    } finally {
      await tier.stop();
    }
  }
  return {
    headings: [
      ...["tier", "bulk alone s", "bulk beside s", "requests", "kept", "admitted", "header", "p50 ms", "p99 ms"],
      "answers",
    ],
    rows: measured.map(({ name, aloneMs, besideMs, small }) => [
      name,
      rounded(aloneMs / 1000, 1),
      besideMs.map((ms) => rounded(ms / 1000, 1)).join(", "),
      `${small.requests}`,
      percent(small.kept),
      percent(small.admitted),
      percent(small.headerKept),
      rounded(small.p50),
      rounded(small.p99),
      `${countsOf(small.tiers)}; ${countsOf(small.reasons)}`,
    ]),
    checks: measured.map(({ name, small }) => ({
      what: `share of one-word requests within ${BUDGET_MS} ms, ${name}`,
      asked: `≥ ${percent(MIN_KEPT)}`,
      measured: percent(small.kept),
      holds: small.kept >= MIN_KEPT,
    })),
    figures: measured.flatMap(({ name, aloneMs, besideMs, small }) => [
      ...figuresOf(name, { "bulk alone": [aloneMs, "ms"], "bulk beside": [median(besideMs), "ms"] }),
      ...figuresOfLoad(name, small),
    ]),
    details: measured,
  };
}

async function measure(url: string, { generator, options: { short, seed, seconds } }: Context) {
  const texts = short ? SHORT_TEXTS : TEXTS;
  const bulk = Array.from({ length: texts }, (_, i) => calibrationTexts[i % calibrationTexts.length] as string);
  const ask = async () => {
    const { status, ms, body } = await startEmbed({ url, key: KEY }, bulk).reply;
    if (status !== 200) throw new Error(`${texts} texts were answered with ${status}: ${body}`);
    return ms;
  };
  const aloneMs = await ask();
  const besideMs: number[] = [];
  let isOver = false;
  const repeated = (async () => {
    while (!isOver) besideMs.push(await ask());
  })();
  await sleep(HEAD_START_MS);
  const job: LoadJob = {
    url,
    key: KEY,
    traffic: { loop: "open", perSecond: PER_SECOND },
    length: "word",
    budgetMs: BUDGET_MS,
    pin: undefined,
    seed,
    warmMs: 0,
    measuredMs: 2_000 * seconds,
  };
  const run = await generator.run(job);
  isOver = true;
  await repeated;
  return { aloneMs, besideMs, small: summarize(job, run) };
}
