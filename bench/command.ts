import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ParseArgsOptionsConfig } from "node:util";
import { printError, printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { type StageLog, stageLog } from "#sdk/cli/stage-log.ts";
import { type CommandLine, commandLine, numberOf } from "../test/commands/command-line.ts";
import { type Figure, implausible } from "./figures.ts";

/** Options that every benchmark has. */
const common = {
  json: { type: "boolean", default: false },
  /** Measures a tiny model with the fewest repetitions: it shows that the benchmark works, and no figure of use. */
  short: { type: "boolean", default: false },
} as const satisfies ParseArgsOptionsConfig;

export interface Command<O extends ParseArgsOptionsConfig> {
  /** Lines that say how it is called, without the options that every benchmark has. */
  readonly usage: string;
  readonly options: O;
  /** Whether there are arguments apart from the options. Default false. */
  readonly allowPositionals?: boolean;
}

/** A call of a benchmark. */
export interface Call<O extends ParseArgsOptionsConfig>
  extends Pick<CommandLine<O & typeof common>, "values" | "positionals"> {
  /** An empty folder. It is removed at the end. */
  readonly folder: string;
  readonly log: StageLog;
}

/** Result of a benchmark. */
export interface Report {
  /** Measured numbers. The command fails if one is not plausible. */
  readonly figures: readonly Figure[];
  /** The result as text. */
  readonly text: string;
  /** Further results, for the JSON output. */
  readonly details?: object;
  /** Whether what was found is as expected. Default true. */
  readonly ok?: boolean;
}

/** The command line is wrong. The command prints its usage. */
export class WrongUsage extends Error {}

/** Reads a number above zero from an option. */
export function positive(option: string, text: string): number {
  return numberOf(option, text, {}, (what) => {
    throw new WrongUsage(what);
  });
}

/** Reads names that are separated by commas. Default: all known names. */
export function namesIn(option: string, text: string | undefined, known: readonly string[]): readonly string[] {
  const names = text?.split(",") ?? known;
  const other = names.find((name) => !known.includes(name));
  if (other === undefined) return names;
  throw new WrongUsage(`--${option} names ${other}. Choose from ${known.join(",")}.`);
}

/**
 * Runs a benchmark and prints its report. Exit code 1: a figure is not plausible, or the benchmark failed. 2: the command
 * line is wrong.
 */
export async function command<const O extends ParseArgsOptionsConfig>(
  { usage, options, allowPositionals = false }: Command<O>,
  run: (call: Call<O>) => Promise<Report>,
): Promise<void> {
  const all = { ...common, ...options };
  const { values, positionals, refuse } = commandLine(`${usage} [--short] [--json]`, all, { allowPositionals });
  try {
    await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-bench-"));
    // A benchmark that fails ends the line about its running work.
    using log = stageLog();
    const { figures, text, details, ok = true } = await run({ values, positionals, folder: folder.path, log });
    log.done();
    if ((values as { json: boolean }).json) printJson({ ...details, figures });
    else printResult(text);
    const wrong = implausible(figures);
    for (const sentence of wrong) printNote(sentence);
    if (wrong.length > 0 || !ok) process.exitCode = 1;
  } catch (error) {
    if (error instanceof WrongUsage) refuse(error.message);
    printError(error);
    process.exitCode = 1;
  }
}
