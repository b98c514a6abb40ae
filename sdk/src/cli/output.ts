import { styleText } from "node:util";
import { BertEdgeError } from "../artifact/error.ts";
import { printable, printableJson } from "../artifact/printable.ts";
import { BertEdgeClientError } from "../client/errors.ts";
import { explanationOf } from "./explanations.ts";
import { onScreen } from "./screen/on-screen.ts";

/** Prints a result as JSON on stdout. Progress and notes go to stderr, so that stdout has only the result. */
export const printJson = (value: unknown): void =>
  void process.stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);

/**
 * Prints text, with its control characters made visible. On a terminal, lines that are wider are broken.
 *
 * @param sign text before it that is printed unchanged, such as a coloured sign
 */
export const printResult = (text: string, sign = ""): void =>
  void process.stdout.write(`${sign}${onScreen(text, process.stdout)}\n`);

/** Prints text as `printResult` does, on stderr. */
export const printNote = (text: string, sign = ""): void =>
  void process.stderr.write(`${sign}${onScreen(text, process.stderr)}\n`);

const isOurs = (error: unknown): error is BertEdgeError | BertEdgeClientError =>
  error instanceof BertEdgeError || error instanceof BertEdgeClientError;

/** Prints code, message and hint of an error of bert-edge. Any other error is a bug, so its whole stack is printed. */
export function printError(error: unknown): void {
  if (!isOurs(error)) {
    printNote(`\n${error instanceof Error ? error.stack : String(error)}`);
    printNote("  This is a bug in bert-edge: report it with the lines above.\n  More: npx bert-edge explain internal");
    return;
  }
  const { stderr } = process;
  const head = `Error ${printable(error.code)}:`;
  printNote(onScreen(`${head} ${error.message}`, stderr).slice(head.length), `\n${colour("red", head, stderr)}`);
  const more = [
    ...(error.hint ? [error.hint] : []),
    ...(error.cause instanceof Error ? [`caused by ${rootCause(error.cause).message}`] : []),
    ...(isExplained(error.code) ? [`More: npx bert-edge explain ${error.code}`] : []),
  ];
  for (const each of more) printNote(onScreen(each, stderr, "  "));
}

/** Whether `bert-edge explain` says more than the error. Hints of wrong usage name the help. */
const isExplained = (code: string): boolean => code !== "usage_invalid" && explanationOf(code) !== undefined;

/** Prints an error as JSON, for `--json`. Errors of Node.js, such as ENOENT, get the code `internal`. */
export function printErrorJson(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const { code, hint } = isOurs(error) ? error : { code: "internal", hint: undefined };
  printJson({ error: { code, message, ...(hint && { hint }) } });
}

function rootCause(error: Error): Error {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return rootCause(error.errors[0]);
  return error.cause instanceof Error ? rootCause(error.cause) : error;
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join("  ")
      .trimEnd();
  return [line(headings), line(widths.map((width) => "─".repeat(width))), ...rows.map(line)].join("\n");
}

/** Ends a command with exit code 1. The command has printed the reason. */
export class ReportedFailure extends Error {}

/** Colours a text, if the stream is a terminal that shows colours. NO_COLOR and FORCE_COLOR override this. */
export const colour = (
  name: "green" | "red" | "yellow" | "bold" | "dim",
  text: string,
  stream: NodeJS.WriteStream,
): string => styleText(name, text, { stream });
