import type { Tier } from "#sdk/serve/contract/headers.ts";
import { figuresOf } from "../../figures.ts";
import { type Context, KEY, type RoutingOptions } from "../context.ts";
import { settle } from "../idle.ts";
import { figuresOfLoad } from "../load/figures.ts";
import type { LoadJob } from "../load/job.ts";
import { shareOf } from "../load/statistics.ts";
import { type LoadSummary, summarize } from "../load/summarize.ts";
import type { Line } from "../proxy.ts";
import { countsOf, percent, type Report, rounded } from "../report.ts";
import { startTiers } from "../tiers.ts";
import { oracleShare } from "./oracle.ts";

/** Budgets in ms, lengths in tokens, and numbers of clients. */
const ALL = [
  [5, 10, 25, 50, 100, 200],
  [8, 32, 128, 256, 512],
  [1, 8, 32],
] as const;
const QUICK = [
  [10, 50],
  [32, 256],
  [1, 8],
] as const;
const SHORT = [[50], [32], [8]] as const;
/** The lines between edge and region. */
const lines = {
  near: { delayMs: 4, jitterMs: 1 },
  far: { delayMs: 20, jitterMs: 5, stalls: 0.01, resets: 0.002 },
} as const satisfies Record<string, Partial<Line>>;
type LineName = keyof typeof lines;

interface Case {
  readonly line: LineName;
  readonly clients: number;
  readonly tokens: number;
  readonly budgetMs: number;
}

const casesOf = ({ short, quick }: Pick<RoutingOptions, "short" | "quick">): Case[] => {
  const [budgets, tokens, clients] = short ? SHORT : quick ? QUICK : ALL;
  return (Object.keys(lines) as LineName[]).flatMap((line) =>
    clients.flatMap((clients) =>
      tokens.flatMap((tokens) => budgets.map((budgetMs) => ({ line, clients, tokens, budgetMs }))),
    ),
  );
};

const WARM_MS = 200;
const MIN_OF_ORACLE = 0.99;
const MAX_HEADER_ERROR = 0.05;

/** Measures routing over lines with delay and loss, and compares it with an oracle that knows both tiers' times. */
export async function links(context: Context): Promise<Report> {
  const { generator, options, stage } = context;
  const { seconds, seed } = options;
  await using tiers = await startTiers(context);
  const { edge, region, proxy } = tiers;
  let current: LineName | undefined;
  const results: (Case & Readonly<Record<"edge" | "region" | "auto", LoadSummary>> & { oracle: number })[] = [];
  for (const each of casesOf(options)) {
    const { line, clients, tokens, budgetMs } = each;
    if (line !== current) proxy.change(lines[line]);
    current = line;
    stage(`${line}, ${clients} clients, ${tokens} tokens, ${budgetMs} ms`);
    const run = async (pin?: Tier) => {
      const job: LoadJob = {
        url: edge.url,
        key: KEY,
        traffic: { loop: "closed", clients },
        length: { tokens },
        budgetMs,
        pin,
        seed,
        warmMs: WARM_MS,
        // A third of a matrix point: there are many more cases here.
        measuredMs: (1000 * seconds) / 3,
      };
      const result = await generator.run(job);
      await settle([edge.url, region.url]);
      return { result, summary: summarize(job, result) };
    };
    const [atEdge, inRegion, auto] = [await run("edge"), await run("region"), await run()];
    results.push({
      ...each,
      oracle: oracleShare(atEdge.result, inRegion.result, budgetMs),
      edge: atEdge.summary,
      region: inRegion.summary,
      auto: auto.summary,
    });
  }
  const sum = (figure: (result: (typeof results)[number]) => number) =>
    results.reduce((total, result) => total + (figure(result) || 0), 0);
  const [kept, possible] = [sum(({ auto }) => auto.kept), sum(({ oracle }) => oracle)];
  const wrong = results.filter(
    ({ auto: { headerKept, stopwatchKept } }) => Math.abs(headerKept - stopwatchKept) > MAX_HEADER_ERROR,
  );
  const lost = sum(({ auto }) => auto.lost);
  return {
    headings: [
      ...["line", "clients", "tokens", "budget", "edge kept", "region kept", "oracle", "auto kept", "admitted"],
      ...["header", "stopwatch", "p50 ms", "measured/predicted", "answers"],
    ],
    rows: results.map(({ line, clients, tokens, budgetMs, edge, region, oracle, auto }) => [
      line,
      `${clients}`,
      `${tokens}`,
      `${budgetMs}`,
      percent(edge.kept),
      percent(region.kept),
      percent(oracle),
      percent(auto.kept),
      percent(auto.admitted),
      percent(auto.headerKept),
      percent(auto.stopwatchKept),
      rounded(auto.p50),
      rounded(auto.measuredByPredicted, 1),
      `${countsOf(auto.tiers)}; ${countsOf(auto.reasons)}`,
    ]),
    checks: [
      {
        what: "budgets kept by those that an oracle keeps, all cases",
        asked: `aim ≥ ${percent(MIN_OF_ORACLE)}`,
        measured: percent(shareOf(kept, possible)),
        holds: kept >= MIN_OF_ORACLE * possible,
      },
      {
        what: `cases in which header and stopwatch differ by more than ${percent(MAX_HEADER_ERROR)}`,
        asked: "0",
        measured: `${wrong.length} of ${results.length}`,
        holds: wrong.length === 0,
      },
      { what: "requests without an answer or a refusal", asked: "0", measured: `${lost}`, holds: lost === 0 },
    ],
    figures: results.flatMap(({ line, clients, tokens, budgetMs, oracle, auto }) => {
      const row = `${line}, ${clients} clients, ${tokens} tokens, ${budgetMs} ms`;
      return [...figuresOf(row, { oracle: [oracle, "share"] }), ...figuresOfLoad(row, auto)];
    }),
    details: results,
  };
}
