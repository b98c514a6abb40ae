import { table } from "#sdk/cli/output.ts";
import { type Check, describeChecks } from "../checks.ts";
import type { Figure } from "../figures.ts";

/** Result of a part of the benchmark. */
export interface Report {
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly checks: readonly Check[];
  readonly figures: readonly Figure[];
  /** Further measurements, for the JSON output. */
  readonly details: unknown;
}

export function describeReport(name: string, { headings, rows, checks }: Report): string {
  const tables = [table(headings, rows), describeChecks(checks)];
  return `${name}\n\n${tables.join("\n\n")}\n`;
}

export const percent = (share: number): string => (Number.isNaN(share) ? "–" : `${(100 * share).toFixed(0)} %`);
export const rounded = (value: number, digits = 0): string => (Number.isNaN(value) ? "–" : value.toFixed(digits));
/** Formats counts by name, the largest first. */
export const countsOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
