import { join } from "node:path";
import { type Failure, isRun, median, type Run, runTool } from "../run-tool.ts";
import { BASELINE, type Row } from "./rows.ts";

/**
 * Time and memory that a row needs to make its file: medians over the rounds. A ratio divides the row's result by the
 * baseline's result of the same round. The median of these ratios is stored.
 */
export interface Cost {
  readonly seconds: number;
  readonly peakRssMB: number;
  readonly secondsRatio?: number;
  readonly peakRssRatio?: number;
}

/** A row's result: the file and its cost, or the reason why there is none. */
export type Result = { readonly row: Row } & (Failure | { readonly file: string; readonly cost: Cost });

export interface MakeOptions {
  /** Folder for the files. */
  readonly folder: string;
  readonly rounds: number;
  /** Called at the start of each round. Rounds count from 1. */
  readonly onRound: (round: number) => void;
}

/** Runs every row once per round. A row that fails is not tried again. */
export async function makeResults(rows: readonly Row[], { folder, rounds, onRound }: MakeOptions): Promise<Result[]> {
  const tried = rows.map((row, i) => ({ row, file: join(folder, `${i}.onnx`), runs: [] as Run[] }));
  const failures = new Map<Row, Failure>();
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const { row, file, runs } of tried) {
      if (failures.has(row)) continue;
      const outcome = await runTool(row.command, row.args(file));
      if (isRun(outcome)) runs.push(outcome);
      else failures.set(row, outcome);
    }
  }
  const baseline = tried.find(({ row }) => row.title === BASELINE)?.runs ?? [];
  return tried.map(({ row, file, runs }) => ({
    row,
    ...(failures.get(row) ?? { file, cost: costOf(runs, baseline) }),
  }));
}

function costOf(runs: readonly Run[], baseline: readonly Run[]): Cost {
  const figure = (key: "seconds" | "peakRssMB") => median(runs.map((run) => run[key]));
  const ratio = (key: "seconds" | "peakRssMB") =>
    median(baseline.map((base, i) => (runs[i]?.[key] ?? Number.NaN) / base[key]));
  const costs = { seconds: figure("seconds"), peakRssMB: figure("peakRssMB") };
  return baseline.length === runs.length
    ? { ...costs, secondsRatio: ratio("seconds"), peakRssRatio: ratio("peakRssMB") }
    : costs;
}
