import type { Check } from "../../checks.ts";
import { type Figure, figuresOf } from "../../figures.ts";
import type { Context } from "../context.ts";
import { settle } from "../idle.ts";
import { quantile, shareOf } from "../load/statistics.ts";
import { countsOf, percent, type Report, rounded } from "../report.ts";
import type { Version, Versions } from "../versions.ts";
import { type DeploymentName, deployments, type FairDeployment, startFair } from "./deployment.ts";
import { type Load, type Measured, measure } from "./measure.ts";

/** Clients of the flood, and those among them that read 2,048 vectors slowly. */
const FLOOD = { clients: 400, slowClients: 20 };
const SHORT_FLOOD = { clients: 20, slowClients: 1 };
/** Length of a run by `--seconds`, and that of a run without a flood by the others. */
const RUN = 10;
const ALONE = 1 / 3;
const SHORT_RUN = 3;
const BUDGET_MS = 50;

/** Asked of the good caller's times by those without others, of its requests with a budget, and of the flood's answers by the older version's. */
const [MAX_P50, MAX_P99, MIN_KEPT, MAX_REFUSED, MIN_GOODPUT] = [2, 5, 0.95, 0.02, 0.95];

const budgets = { "no budget": undefined, [`${BUDGET_MS} ms`]: BUDGET_MS };
type Case = keyof typeof budgets;
/** Cases in the order in which the processes of a deployment see them: so each case has fresh and used ones. */
const orders: readonly (readonly Case[])[] = [
  ["no budget", `${BUDGET_MS} ms`],
  [`${BUDGET_MS} ms`, "no budget"],
];

/** A run with a flood. */
interface Run extends Measured {
  readonly deployment: DeploymentName;
  readonly version: string;
  readonly budget: Case;
  readonly process: "fresh" | "used";
  /** The good caller's times on the same processes before, without others, in ms. */
  readonly aloneMs: readonly number[];
}

/** Measures what a caller gets whose requests come at a steady rate, while another key's clients send what they can. */
export async function fairness(context: Context): Promise<Report> {
  const { short, quick, seconds, points } = context.options;
  const names = Object.keys(deployments) as DeploymentName[];
  const chosen = short ? names.slice(0, 1) : names.filter((name) => points.some((point) => name.includes(point)));
  const runs: Run[] = [];
  for (const deployment of chosen) {
    for (const order of short || quick ? orders.slice(0, 1) : orders) {
      runs.push(...(await runsOf(context, deployment, order, 1_000 * seconds * (short || quick ? SHORT_RUN : RUN))));
    }
  }
  return {
    headings: [
      ...[
        "deployment",
        "version",
        "budget",
        "process",
        "flood",
        "slow readers",
        "one-word answers/s",
        "p50 ms",
        "p99 ms",
      ],
      ...["good", "p50 ms", "p99 ms", "max ms", "by alone", "kept", "refused", "region failed", "wrong", "crashed"],
      ...["MB", "CPU of callers"],
    ],
    rows: runs.map(rowOf),
    checks: runs.flatMap((run) => checksOf(run, runs)),
    figures: runs.flatMap(figuresOfRun),
    details: runs,
  };
}

/** Runs the cases on a new deployment of each version, in turn. A deployment of which a process has crashed is replaced. */
async function runsOf(
  context: Context,
  name: DeploymentName,
  order: readonly Case[],
  durationMs: number,
): Promise<Run[]> {
  const { stage, options, versions } = context;
  await using stack = new AsyncDisposableStack();
  const subjects: { version: string; deployment: FairDeployment; aloneMs: readonly number[] }[] = [];
  const start = async (version: Version) => {
    const deployment = stack.use(await startFair(name, version));
    await settle([deployment.url]);
    return deployment;
  };
  const quiet: Load = { clients: 0, slowClients: 0, budgetMs: undefined, durationMs: ALONE * durationMs };
  for (const [version, each] of Object.entries(versions)) {
    stage(`${name}, ${version}: alone`);
    const deployment = await start(each);
    const { good } = await measure(deployment, quiet);
    subjects.push({ version, deployment, aloneMs: good.answersMs });
  }
  const runs: Run[] = [];
  for (const [i, budget] of order.entries()) {
    for (const subject of i % 2 ? subjects.toReversed() : subjects) {
      const { version, deployment, aloneMs } = subject;
      stage(`${name}, ${version}: ${budget}`);
      const flood = options.short ? SHORT_FLOOD : FLOOD;
      const measured = await measure(deployment, { ...flood, budgetMs: budgets[budget], durationMs });
      runs.push({ deployment: name, version, budget, process: i === 0 ? "fresh" : "used", aloneMs, ...measured });
      if (measured.crashed.length > 0) subject.deployment = await start(versions[version as keyof Versions] as Version);
      else await settle([deployment.url]);
    }
  }
  return runs;
}

const p50 = (ms: readonly number[]) => quantile(ms, 0.5);
const p99 = (ms: readonly number[]) => quantile(ms, 0.99);
const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, count) => all + count, 0);

/** Numbers of a run that are judged. */
function judged({ good, flood, aloneMs, budget }: Run) {
  const budgetMs = budgets[budget] ?? Number.POSITIVE_INFINITY;
  const sent = sum(good.counts);
  const refused = sent - (good.counts["200"] ?? 0) - (good.counts["no answer"] ?? 0);
  return {
    p50Ratio: p50(good.answersMs) / p50(aloneMs),
    p99Ratio: p99(good.answersMs) / p99(aloneMs),
    kept: shareOf(good.answersMs.filter((ms) => ms <= budgetMs).length, sent),
    refused: shareOf(refused, sent),
    goodput: (flood?.counts["200"] ?? 0) / (flood?.seconds ?? Number.NaN),
    wrong: good.wrong.length + (flood?.wrong.length ?? 0),
  };
}

function rowOf(run: Run): string[] {
  const { deployment, version, budget, process, good, flood, aloneMs, residentMB, crashed, regionFailed } = run;
  const { p50Ratio, p99Ratio, kept, refused, goodput, wrong } = judged(run);
  const times = (ms: readonly number[]) => [rounded(p50(ms), 1), rounded(p99(ms), 1)];
  const cpu = ({ cpuMs, seconds }: { cpuMs: number; seconds: number }) => percent(cpuMs / 1_000 / seconds);
  return [
    ...[deployment, version, budget, process],
    ...[countsOf(flood?.counts ?? {}), countsOf(flood?.slow ?? {})],
    ...[rounded(goodput, 1), ...times(flood?.answersMs ?? [])],
    ...[countsOf(good.counts), ...times(good.answersMs), rounded(Math.max(...good.answersMs), 1)],
    `p50 ${rounded(p50Ratio, 1)}, p99 ${rounded(p99Ratio, 1)} × ${times(aloneMs).join("/")} ms`,
    ...[percent(kept), percent(refused), `${regionFailed}`, `${wrong}`, crashed.join(", ") || "–"],
    countsOf(Object.fromEntries(Object.entries(residentMB).map(([tier, mb]) => [tier, Math.round(mb)]))),
    `${flood ? cpu(flood) : "–"}, ${cpu(good)}`,
  ];
}

function checksOf(run: Run, all: readonly Run[]): Check[] {
  const { deployment, version, budget, process, crashed } = run;
  if (version !== "now") return [];
  const { p50Ratio, p99Ratio, kept, refused, goodput, wrong } = judged(run);
  const older = all.find(
    (other) =>
      other.version !== version &&
      other.deployment === deployment &&
      other.budget === budget &&
      other.process === process,
  );
  const atMost = (what: string, most: number, value: number, format: (value: number) => string): Check => ({
    what: `${deployment}, ${budget}, ${process}: ${what}`,
    asked: `≤ ${format(most)}`,
    measured: format(value),
    holds: value <= most,
  });
  const atLeast = (what: string, least: number, value: number, format: (value: number) => string): Check => ({
    ...atMost(what, least, value, format),
    asked: `≥ ${format(least)}`,
    holds: value >= least,
  });
  const times = (value: number) => `${rounded(value, 2)} ×`;
  return [
    ...(budgets[budget] === undefined
      ? [
          atMost("the good caller's p50 by that without others", MAX_P50, p50Ratio, times),
          atMost("its p99 by that without others", MAX_P99, p99Ratio, times),
        ]
      : [
          atLeast("the good caller's requests within the budget", MIN_KEPT, kept, percent),
          atMost("its requests that were refused or lost", MAX_REFUSED, refused, percent),
        ]),
    ...(older
      ? [
          atLeast(
            "the flood's answers by those of the older version",
            MIN_GOODPUT,
            goodput / judged(older).goodput,
            times,
          ),
        ]
      : []),
    atMost("wrong answers", 0, wrong, rounded),
    atMost("processes that have ended", 0, crashed.length, rounded),
  ];
}

function figuresOfRun(run: Run): Figure[] {
  const { good, flood, deployment, version, budget, process } = run;
  const { kept, goodput, wrong } = judged(run);
  return figuresOf(`${deployment}, ${version}, ${budget}, ${process}`, {
    requests: [sum(good.counts), "count"],
    kept: [kept, "share"],
    ...(good.answersMs.length > 0 && { p50: [p50(good.answersMs), "ms"], p99: [p99(good.answersMs), "ms"] }),
    ...(flood?.counts["200"] !== undefined && { "answers of the flood": [goodput, "per second"] }),
    wrong: [wrong, "differences"],
  });
}
