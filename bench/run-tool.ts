import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** The result of a command that succeeded. */
export interface Run {
  /** Time of the whole process. */
  readonly seconds: number;
  readonly peakRssMB: number;
  /** JSON output of the command. */
  // biome-ignore lint/suspicious/noExplicitAny: every tool has a report of its own
  readonly report: any;
}

/** First line of a failed command's error message. */
export interface Failure {
  readonly failure: string;
}

export const isRun = (outcome: Run | Failure): outcome is Run => "report" in outcome;

/** Returns the command line for a command of the built `bert-edge` of a checkout. Default: this one. */
export const bertEdge = (name: string, root = join(import.meta.dirname, "..")): string[] => [
  process.execPath,
  join(root, "sdk/bin/bert-edge.js"),
  name,
];

/** Returns the command line for a script in this folder. */
export const python = (script: string, interpreter = "python3"): string[] => [
  interpreter,
  "-B",
  join(import.meta.dirname, script),
];

/**
 * Runs a command that prints a JSON object with `peakRssMB` at the end of its output. On Linux, `peakRssMB` includes
 * the memory that this process uses when it starts the command. Callers must therefore load models in subprocesses.
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

/**
 * Returns the line that starts with "Error". If there is none, returns the last line, where Python puts its message.
 */
const errorIn = (stderr: string): string | undefined =>
  /^Error .*/m.exec(stderr)?.[0] || stderr.trimEnd().split("\n").at(-1) || undefined;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
