import { table } from "#sdk/cli/output.ts";
import { type Build, builds } from "#test/suites/kernels/builds.ts";
import type { KernelRow } from "./measure.ts";

/** Formats a table of an encoder's kernels, and the total time of a forward pass. */
export function describeKernels(rows: readonly KernelRow[]): string {
  const headings = ["kernel", "", "calls", ...builds.flatMap((build) => [build, "rate", "of peak", "share"])];
  const lines = rows.map((row) => [
    row.kernel,
    sizesOf(row.shape),
    `${row.times || "–"}`,
    ...builds.flatMap((build) => cellsOf(row, build, forwardSeconds(rows, build))),
  ]);
  const totals = builds.map((build) => `${(1000 * forwardSeconds(rows, build)).toFixed(2)} ms ${build}`);
  return `${table(headings, lines)}\nkernels of a forward pass: ${totals.join(", ")}`;
}

function cellsOf({ timings, work, unit, times }: KernelRow, build: Build, forward: number): string[] {
  const { seconds, ofPeak } = timings[build];
  return [
    `${(1e6 * seconds).toFixed(1)} µs`,
    `${(work / seconds / 1e9).toFixed(2)} ${unit === "number" ? "/ns" : "GMAC/s"}`,
    ofPeak === undefined ? "" : percent(ofPeak),
    times === 0 ? "" : percent((seconds * times) / forward),
  ];
}

const forwardSeconds = (rows: readonly KernelRow[], build: Build): number =>
  rows.reduce((sum, { timings, times }) => sum + times * timings[build].seconds, 0);

/** Formats the first three sizes of a shape. The other sizes follow from these three. */
const sizesOf = (shape: object): string =>
  Object.entries(shape)
    .filter(([, value]) => Number.isInteger(value))
    .slice(0, 3)
    .map((entry) => entry.join(" "))
    .join(", ");

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
