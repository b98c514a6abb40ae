import type { Holder } from "#test/callers/held.ts";
import type { Check } from "../../checks.ts";
import { type Figure, figuresOf } from "../../figures.ts";
import type { Context } from "../context.ts";
import { type DeploymentName, startFair } from "../fairness/deployment.ts";
import { quantile } from "../load/statistics.ts";
import { countsOf, type Report, rounded } from "../report.ts";
import { type Watched, watch } from "./watch.ts";

/** Connections of a kind. */
const CONNECTIONS = 40;
/** Connections that send many requests ahead: together 250 kB. */
const PIPELINES = 4;
/** Length of a case by `--seconds`: longer than the time for which a region waits for the rest of a body. */
const LENGTH = 25;
const SHORT_LENGTH = 4;

/** Asked of the edge's isolate beside its model, of the growth of a region, and of its answers to `GET /health`. */
const [MAX_ISOLATE_MIB, MAX_GROWN_MIB, MAX_HEALTH_MS] = [48, 40, 100];

type Kinds = Readonly<Partial<Record<Holder, number>>>;

const cases: Readonly<Record<string, Kinds>> = {
  "chunked uploads": { "chunked upload": CONNECTIONS },
  "declared uploads": { "declared upload": CONNECTIONS },
  "unread answers": { "unread answer": CONNECTIONS },
  "uploads and unread answers": { "chunked upload": CONNECTIONS, "unread answer": CONNECTIONS },
  "requests sent ahead": { pipelining: PIPELINES },
};
const shortCases: typeof cases = {
  "all at once": { "chunked upload": 2, "declared upload": 2, "unread answer": 2, pipelining: PIPELINES },
};

interface Row extends Watched {
  readonly tier: "edge" | "region";
  readonly version: string;
  readonly name: string;
}

/** Measures the memory of each tier while callers with one key keep connections: they send no end of a body, or read no answer. */
export async function memory(context: Context): Promise<Report> {
  const { short, seconds, points } = context.options;
  const durationMs = 1_000 * seconds * (short ? SHORT_LENGTH : LENGTH);
  const tiers = { edge: "edge and region", region: "region only" } as const satisfies Record<string, DeploymentName>;
  const rows: Row[] = [];
  for (const [tier, deployment] of Object.entries(tiers)) {
    for (const [name, kinds] of Object.entries(short ? shortCases : cases)) {
      if (!points.some((point) => `${tier} ${name}`.includes(point))) continue;
      for (const [version, each] of Object.entries(context.versions)) {
        context.stage(`${tier}, ${version}: ${name}`);
        await using started = await startFair(deployment, each, { inspect: tier === "edge" });
        rows.push({ tier: tier as Row["tier"], version, name, ...(await watch(started, kinds, durationMs)) });
      }
    }
  }
  return {
    headings: [
      ...["tier", "version", "connections", "isolate MiB", "with garbage", "process grows MiB", "and keeps"],
      ...["health p50 ms", "max ms", "ended by the server", "after s", "crashed"],
    ],
    rows: rows.map((row) => {
      const { tier, version, name, connections, endedMs, how, crashed } = row;
      const seconds = (ms: number) => rounded(ms / 1_000, 1);
      return [
        ...[tier, version, `${connections}: ${name}`, rounded(row.isolateMiB ?? Number.NaN, 1)],
        ...[rounded(row.withGarbageMiB ?? Number.NaN, 1), rounded(row.grownMiB), rounded(row.leftMiB)],
        ...[rounded(quantile(row.healthMs, 0.5), 1), rounded(Math.max(...row.healthMs)), countsOf(how) || "none"],
        endedMs.length > 0 ? `${seconds(Math.min(...endedMs))} to ${seconds(Math.max(...endedMs))}` : "–",
        crashed ? "crashed" : "–",
      ];
    }),
    checks: rows.filter(({ version }) => version === "now").flatMap(checksOf),
    figures: rows.flatMap(figuresOfRow),
    details: rows,
  };
}

function checksOf({ tier, name, isolateMiB, grownMiB, healthMs, crashed }: Row): Check[] {
  const atMost = (what: string, most: number, value: number, unit: string): Check => ({
    what: `${tier}, ${name}: ${what}`,
    asked: `≤ ${most} ${unit}`,
    measured: `${rounded(value, 1)} ${unit}`,
    holds: value <= most && !crashed,
  });
  return tier === "edge"
    ? [atMost("isolate beside the model", MAX_ISOLATE_MIB, isolateMiB ?? Number.NaN, "MiB")]
    : [
        atMost("growth of the process", MAX_GROWN_MIB, grownMiB, "MiB"),
        atMost("slowest /health", MAX_HEALTH_MS, Math.max(...healthMs), "ms"),
      ];
}

const figuresOfRow = ({ tier, version, name, isolateMiB, healthMs }: Row): Figure[] =>
  figuresOf(`${tier}, ${version}, ${name}`, {
    isolate: [isolateMiB, "MB"],
    "health p50": [quantile(healthMs, 0.5), "ms"],
  });
