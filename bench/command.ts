import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { printError, printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { type StageLog, stageLog } from "#sdk/cli/stage-log.ts";
import { type Figure, implausible } from "./figures.ts";

/** Options that every benchmark has. */
const common = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean", default: false },
  /** Measures a tiny model with the fewest repetitions: it shows that the benchmark works, and no figure of use. */
  quick: { type: "boolean", default: false },
} as const satisfies ParseArgsOptionsConfig;

type Config<O extends ParseArgsOptionsConfig> = { options: O & typeof common; allowPositionals: true };

export interface Command<O extends ParseArgsOptionsConfig> {
  /** Lines that say how it is called, without the options that every benchmark has. */
  readonly usage: string;
  readonly options: O;
  /** Whether there are arguments apart from the options. Default false. */
  readonly allowPositionals?: boolean;
}

/** A call of a benchmark. */
export interface Call<O extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<Config<O>>>["values"];
  readonly positionals: readonly string[];
  /** An empty folder. It is removed at the end. */
  readonly folder: string;
  readonly log: StageLog;
}

/** What a benchmark found. */
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
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new WrongUsage(`--${option} is ${text}. Give a number above 0.`);
}

/** Reads names that are separated by commas. Default: all known names. */
export function namesIn(option: string, text: string | undefined, known: readonly string[]): readonly string[] {
  const names = text?.split(",") ?? known;
  const other = names.find((name) => !known.includes(name));
  if (other === undefined) return names;
  throw new WrongUsage(`--${option} names ${other}. Choose from ${known.join(",")}.`);
}

const isWrongUsage = (error: unknown): error is Error =>
  error instanceof WrongUsage ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));

/**
 * Runs a benchmark and prints its report. Exit code 1: a figure is not plausible, or the benchmark failed. 2: the command
 * line is wrong.
 */
export async function command<O extends ParseArgsOptionsConfig>(
  { usage, options, allowPositionals = false }: Command<O>,
  run: (call: Call<O>) => Promise<Report>,
): Promise<void> {
  const help = `usage: ${usage} [--quick] [--json]`;
  try {
    const config = { options: { ...common, ...options }, allowPositionals } as Config<O>;
    const { values, positionals } = parseArgs(config);
    const { help: isAsked, json } = values as { help?: boolean; json: boolean };
    if (isAsked) return printResult(help);
    await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-bench-"));
    const log = stageLog();
    const { figures, text, details, ok = true } = await run({ values, positionals, folder: folder.path, log });
    log.done();
    if (json) printJson({ ...details, figures });
    else printResult(text);
    const wrong = implausible(figures);
    for (const sentence of wrong) printNote(sentence);
    if (wrong.length > 0 || !ok) process.exitCode = 1;
  } catch (error) {
    if (isWrongUsage(error)) printNote(`${error.message}\n\n${help}`);
    else printError(error);
    process.exitCode = isWrongUsage(error) ? 2 : 1;
  }
}
