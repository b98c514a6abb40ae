import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** A command that ended well. */
export interface Run {
  /** Of the whole process. */
  readonly seconds: number;
  readonly peakRssMB: number;
  /** The JSON that it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: every tool has a report of its own
  readonly report: any;
}

/** First line of what a command said when it failed. */
export interface Failure {
  readonly failure: string;
}

export const isRun = (outcome: Run | Failure): outcome is Run => "report" in outcome;

/** A command of the built `bert-edge`. */
export const bertEdge = (name: string): string[] => [
  process.execPath,
  join(import.meta.dirname, "../sdk/bin/bert-edge.js"),
  name,
];

/** A script in this folder. */
export const python = (script: string): string[] => ["python3", "-B", join(import.meta.dirname, script)];

/**
 * Runs a command that prints a JSON object with its `peakRssMB` at the end of its output. Linux counts what the caller holds
 * at that moment as the command's, so callers keep models in processes of their own.
 */
export async function runTool(command: readonly string[], args: readonly string[]): Promise<Run | Failure> {
  const [program = "", ...first] = command;
  const start = performance.now();
  const child = spawn(program, [...first, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<string | undefined>((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  const [stdout, stderr, failure] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  const seconds = (performance.now() - start) / 1000;
  if (failure !== undefined) return { failure: errorIn(stderr) ?? failure };
  const report = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return { seconds, peakRssMB: report.peakRssMB, report };
}

/** What both tools' scripts say of a failure; of any other, the last line, where Python puts it. */
const errorIn = (stderr: string): string | undefined =>
  /^Error .*/m.exec(stderr)?.[0] || stderr.trimEnd().split("\n").at(-1) || undefined;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
