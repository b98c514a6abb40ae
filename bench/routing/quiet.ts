import { setTimeout as sleep } from "node:timers/promises";
import {
  BUDGET_HEADER,
  DECISION_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
  timingOf,
} from "#sdk/serve/contract/headers.ts";
import { type DirectEdge, startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { type RegionProcess, startRegionProcess } from "#test/fixtures/region-process.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { startEmbed } from "#test/fixtures/start-embed.ts";
import type { Check } from "../checks.ts";
import { figuresOf } from "../figures.ts";
import { median } from "../run-tool.ts";
import { type Context, KEY } from "./context.ts";
import { EDGE_CORES, onCores, REGION_CORES } from "./cores.ts";
import { embed } from "./embed.ts";
import { idleMs } from "./idle.ts";
import { drawTexts } from "./load/texts.ts";
import { percent, type Report, rounded } from "./report.ts";
import { regionEnv } from "./tiers.ts";
import type { Version } from "./versions.ts";

/** Lengths of the texts, in words. */
const WORDS = [12, 60, 200];
/**
 * Budgets as multiples of the edge's true time, and who has to answer how many of the last requests. A region has to if it is
 * faster: nobody could keep a quarter of the edge's time.
 */
const BUDGETS = [
  { budget: 3, tier: "edge", atLeast: 17 },
  { budget: 1.5, tier: "edge", atLeast: 16 },
  { budget: 1.3 },
  { budget: 1 },
  { budget: 0.8 },
  { budget: 0.25, tier: "region", atLeast: 17 },
] as const;
const REQUESTS = 20;
const LAST = 18;
/** Time between two requests in ms. */
const [PAUSE_MS, QUICK_PAUSE_MS] = [2_000, 300];
/** Requests after which the reference is warm. */
const WARM_REQUESTS = 30;
/** Times of which the median is the true time. */
const TRUE_TIMES = 9;

interface Answer {
  readonly status: number;
  readonly tier: string;
  /** Whether the answer came within the budget, as the Worker counts it. */
  readonly isInTime: boolean;
  readonly trueMs: number;
  readonly decision: string;
}

/** The answers of all versions to the texts of one length with one budget. */
interface Row {
  readonly name: string;
  readonly words: number;
  readonly budget: (typeof BUDGETS)[number];
  readonly edgeMs: number;
  readonly regionMs: number;
  readonly answers: Readonly<Record<string, readonly Answer[]>>;
}

/**
 * Measures who answers on a quiet machine, after a fresh start. Before each request, a second Worker, which is warm, computes
 * the same text. The budget is a multiple of the median of its last times, because the speed of a shared machine changes.
 */
export async function quiet(context: Context): Promise<Report> {
  const { quick, short, seed, points } = context.options;
  const { versions } = context;
  const lengths = short ? WORDS.slice(0, 1) : WORDS;
  const budgets = short ? BUDGETS.slice(0, 1) : BUDGETS;
  await using started = new AsyncDisposableStack();
  const regions: { name: string; version: Version; region: RegionProcess }[] = [];
  for (const [name, version] of Object.entries(versions)) {
    const region = await onCores(REGION_CORES, () => startRegionProcess(version));
    started.defer(() => region.stop());
    regions.push({ name, version, region });
  }
  const reference = await onCores(EDGE_CORES, () => startDirectEdge(context));
  started.defer(() => reference.stop());
  const random = randomNumbers(seed);
  const textOf = (words: number) => drawTexts({ tokens: words + 2 }, random);
  for (let i = 0; i < WARM_REQUESTS; i++) await trueTime(reference, textOf(WORDS[i % WORDS.length] as number));

  const rows: Row[] = [];
  for (const words of lengths) {
    const times: number[] = [];
    for (let i = 0; i < TRUE_TIMES; i++) times.push(await trueTime(reference, textOf(words)));
    const regionTimes: number[] = [];
    for (const budget of budgets) {
      const name = `${words} words, ${budget.budget} × the edge's time`;
      if (!points.some((point) => name.includes(point))) continue;
      context.stage(name);
      await using edges = new AsyncDisposableStack();
      const subjects: { name: string; edge: DirectEdge; answers: Answer[] }[] = [];
      for (const { name, version, region } of regions) {
        const edge = edges.adopt(await startEdge(version, region), ({ stop }) => stop());
        subjects.push({ name, edge, answers: [] });
      }
      for (let i = 0; i < (short ? 2 : REQUESTS); i++) {
        await sleep(quick || short ? QUICK_PAUSE_MS : PAUSE_MS);
        const text = textOf(words);
        times.push(await trueTime(reference, text));
        // Whoever has done nothing for a while is slow, in the region as well as at the edge.
        regionTimes.push(...(await Promise.all(regions.map(({ region }) => idleMs(region.url, text, 1)))));
        for (const { edge, answers } of i % 2 ? subjects.toReversed() : subjects) {
          answers.push(await ask(edge, text, budget.budget, median(times.slice(-TRUE_TIMES))));
        }
      }
      const answers = Object.fromEntries(subjects.map(({ name, answers }) => [name, answers]));
      rows.push({ name, words, budget, edgeMs: median(times), regionMs: median(regionTimes), answers });
    }
  }
  const of = (answers: readonly Answer[], tier: string) => answers.filter((answer) => answer.tier === tier).length;
  const kept = (answers: readonly Answer[]): number =>
    answers.filter(({ isInTime }) => isInTime).length / answers.length;
  return {
    headings: [
      "words",
      "edge ms",
      "region ms",
      "budget",
      ...Object.keys(versions).flatMap((name) => [name, "edge", "region", "refused", "in time"]),
    ],
    rows: rows.map(({ words, budget, edgeMs, regionMs, answers }) => [
      `${words}`,
      rounded(edgeMs, 1),
      rounded(regionMs, 1),
      `${budget.budget} ×`,
      ...Object.entries(answers).flatMap(([name, all]) => [
        name,
        `${of(all, "edge")}`,
        `${of(all, "region")}`,
        `${of(all, "")}`,
        percent(kept(all)),
      ]),
    ]),
    checks: rows.flatMap(({ name, budget, edgeMs, regionMs, answers }): Check[] => {
      const now = answers.now ?? [];
      if ("tier" in budget) {
        if (budget.tier === "region" && regionMs >= edgeMs) return [];
        const found = of(now.slice(-LAST), budget.tier);
        return [
          {
            what: `${name}: answers of the ${budget.tier} among the last ${LAST}`,
            asked: `≥ ${budget.atLeast}`,
            measured: `${found}`,
            holds: found >= budget.atLeast,
          },
        ];
      }
      const before = answers.before && kept(answers.before);
      return [
        {
          what: `${name}: in time`,
          asked: before === undefined ? "–" : `≥ ${percent(before)}`,
          measured: percent(kept(now)),
          holds: before === undefined || kept(now) >= before,
        },
      ];
    }),
    figures: rows.flatMap(({ words, budget, answers }) =>
      figuresOf(`${words} words, ${budget.budget} ×`, { "in time": [kept(answers.now ?? []), "share"] }),
    ),
    details: rows,
  };
}

const startEdge = ({ modules, env }: Version, region: RegionProcess): Promise<DirectEdge> =>
  onCores(EDGE_CORES, () => startDirectEdge({ modules, env: { ...env, ...regionEnv(region.url) } }));

/** Returns the milliseconds in which a warm edge answers, as it measures them. */
async function trueTime({ url }: DirectEdge, text: readonly string[]): Promise<number> {
  const { headers } = await embed(url, text, { [TIER_HEADER]: "edge" });
  return timingOf(`${headers["server-timing"]}`, "total");
}

async function ask({ url }: DirectEdge, text: readonly string[], times: number, trueMs: number): Promise<Answer> {
  const budget = (times * trueMs).toFixed(2);
  const { status, headers } = await startEmbed({ url, key: KEY }, text, { [BUDGET_HEADER]: budget }).reply;
  const decision = `${headers[DECISION_HEADER]}`;
  const isInTime = status === 200 && Number(headers[REMAINING_HEADER]) >= 0;
  return { status, tier: `${headers[TIER_HEADER] ?? ""}`, isInTime, trueMs, decision };
}
