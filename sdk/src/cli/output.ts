import { styleText } from "node:util";
import { BertEdgeError } from "../artifact/error.ts";
import { printable, printableJson } from "../artifact/printable.ts";
import { BertEdgeClientError } from "../client/errors.ts";
import { explanationOf } from "./explanations.ts";

/** Prints a result as JSON on stdout. Progress and notes go to stderr, so that stdout has only the result. */
export const printJson = (value: unknown): void =>
  void process.stdout.write(`${printableJson(JSON.stringify(value, null, 2))}\n`);

/**
 * Prints text, with its control characters made visible.
 *
 * @param sign text before it that is printed unchanged, such as a coloured sign
 */
export const printResult = (text: string, sign = ""): void => void process.stdout.write(`${sign}${printable(text)}\n`);

/** Prints text as `printResult` does, on stderr. */
export const printNote = (text: string, sign = ""): void => void process.stderr.write(`${sign}${printable(text)}\n`);

const isOurs = (error: unknown): error is BertEdgeError | BertEdgeClientError =>
  error instanceof BertEdgeError || error instanceof BertEdgeClientError;

/** Prints code, message and hint of an error of bert-edge. Any other error is a bug, so its whole stack is printed. */
export function printError(error: unknown): void {
  if (!isOurs(error)) {
    printNote(`\n${error instanceof Error ? error.stack : String(error)}`);
    printNote("  This is a bug in bert-edge: report it with the lines above.\n  More: bert-edge explain internal");
    return;
  }
  printNote(` ${error.message}`, `\n${colour("red", `Error ${printable(error.code)}:`, process.stderr)}`);
  if (error.hint) printNote(`  ${error.hint}`);
  if (error.cause instanceof Error) printNote(`  caused by ${rootCause(error.cause).message}`);
  if (explanationOf(error.code)) printNote(`  More: bert-edge explain ${error.code}`);
}

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
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("  ");
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

/**
 * Breaks a text into lines at spaces. Shortens words that are longer than a line, and text after `maxLines` lines, with "…".
 * Lines after the first are indented.
 */
export function wrapped(text: string, columns: number, maxLines: number): string[] {
  const lines: string[] = [];
  const words = text.split(/\s+/);
  for (const [at, word] of words.entries()) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${line} ${word}`;
    } else if (lines.length < maxLines) {
      lines.push(cut(at === 0 ? word : `${INDENT}${word}`, columns));
    } else {
      lines[lines.length - 1] = cut(`${line} …`, columns);
      break;
    }
  }
  return lines;
}

const INDENT = "  ";

const cut = (line: string, columns: number): string =>
  line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
