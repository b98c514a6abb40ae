import { table } from "#sdk/cli/output.ts";
import { type Figure, figuresOf } from "../figures.ts";
import type { Reading, Replay } from "./replay.ts";

/** Figures of a replay, without the language that is held out. Shares count the requests after the first fifth. */
export interface Summary {
  readonly roundTripMs: number;
  readonly memoryMB: number;
  /** Share of the requests that fetched. */
  readonly fetching: number;
  /** The same of the language that is held out; undefined without such requests. */
  readonly heldOut: number | undefined;
  readonly byLanguage: Readonly<Record<string, number>>;
  /** Means of the requests that fetched. */
  readonly rows: number;
  readonly reads: number;
  readonly waves: number;
  readonly maxWaves: number;
  readonly evictions: number;
  /** Milliseconds that a request waited beyond one round trip. */
  readonly beyondP50: number;
  readonly beyondP95: number;
  readonly differences: number;
}

export function summaryOf(
  { readings, evictions, memoryBytes, differences }: Replay,
  roundTripMs: number,
  heldOut: string,
): Summary {
  const later = readings.slice(readings.length / 5);
  const languages = [...new Set(later.map(({ request }) => request.language))];
  const byLanguage = Object.fromEntries(
    languages.map((each) => [each, shareOf(later.filter(({ request }) => request.language === each))]),
  );
  const fetched = readings.filter(({ request, reads }) => request.language !== heldOut && reads > 0);
  const beyond = fetched.map(({ ms }) => ms - roundTripMs).toSorted((a, b) => a - b);
  const mean = (count: (reading: Reading) => number) =>
    fetched.reduce((sum, reading) => sum + count(reading), 0) / fetched.length;
  return {
    roundTripMs,
    memoryMB: memoryBytes / 1e6,
    fetching: shareOf(later.filter(({ request }) => request.language !== heldOut)),
    ...{ heldOut: byLanguage[heldOut], byLanguage },
    ...{ rows: mean(({ rows }) => rows), reads: mean(({ reads }) => reads), waves: mean(({ waves }) => waves) },
    maxWaves: Math.max(...fetched.map(({ waves }) => waves)),
    evictions,
    beyondP50: quantile(beyond, 0.5),
    beyondP95: quantile(beyond, 0.95),
    differences,
  };
}

const shareOf = (readings: readonly Reading[]): number =>
  readings.filter(({ reads }) => reads > 0).length / readings.length;

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(Math.floor(q * sorted.length), sorted.length - 1)] ?? Number.NaN;

export const figuresOfSummary = (summary: Summary): Figure[] =>
  figuresOf(`${summary.roundTripMs} ms`, {
    memory: [summary.memoryMB, "MB"],
    fetching: [summary.fetching, "share"],
    "fetching, language held out": [summary.heldOut, "share"],
    "rows of a request that fetches": [summary.rows, "count"],
    "reads of a request that fetches": [summary.reads, "count"],
    "waves of a request that fetches": [summary.waves, "count"],
    "p95 of a request that fetches": [summary.roundTripMs + summary.beyondP95, "ms"],
    "cache differs": [summary.differences, "differences"],
  });

/** Maximum share of requests that fetch, MB in memory, and ms beyond one round trip. */
const ASKED = { fetching: 0.1, memoryMB: 100, beyondP95: 5 } as const;

const percent = (share: number | undefined) => (share === undefined ? "" : `${(100 * share).toFixed(1)} %`);
const mark = (value: number, most: number) => (value <= most ? "✓" : "✗");

export function describe(summaries: readonly Summary[]): string {
  const [{ byLanguage } = { byLanguage: {} }] = summaries;
  const headings = [
    ...["round trip", "memory", "", "fetching", "", "held out", "rows", "reads", "waves (max)", "evictions"],
    ...["beyond: p50", "p95", ""],
  ];
  const lines = summaries.map((each) => [
    `${each.roundTripMs} ms`,
    `${each.memoryMB.toFixed(1)} MB`,
    mark(each.memoryMB, ASKED.memoryMB),
    percent(each.fetching),
    mark(each.fetching, ASKED.fetching),
    percent(each.heldOut),
    each.rows.toFixed(1),
    each.reads.toFixed(1),
    `${each.waves.toFixed(2)} (${each.maxWaves})`,
    `${each.evictions}`,
    `${each.beyondP50.toFixed(1)} ms`,
    `${each.beyondP95.toFixed(1)} ms`,
    mark(each.beyondP95, ASKED.beyondP95),
  ]);
  const shares = Object.entries<number>(byLanguage).map(([language, share]) => [language, percent(share)]);
  return `${table(headings, lines)}\n\n${table(["language", "fetching"], shares)}`;
}
