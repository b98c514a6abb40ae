import { BertEdgeError } from "../artifact/error.ts";
import { BertEdgeClientError } from "../client/errors/bert-edge-client-error.ts";
import { colour } from "./colour.ts";
import { explanationOf } from "./explanations.ts";

/** stdout carries only the result. Progress and notes go to stderr. */
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
export const printResult = (line: string): void => void process.stdout.write(`${line}\n`);
export const printNote = (line: string): void => void process.stderr.write(`${line}\n`);

const isOurs = (error: unknown): error is BertEdgeError | BertEdgeClientError =>
  error instanceof BertEdgeError || error instanceof BertEdgeClientError;

/** Prints code, message and hint of an error of bert-edge. Any other error is a bug, so its whole stack is printed. */
export function printError(error: unknown): void {
  if (!isOurs(error)) {
    printNote(`\n${error instanceof Error ? error.stack : String(error)}`);
    printNote("  This is a bug in bert-edge: report it with the lines above.\n  More: bert-edge explain internal");
    return;
  }
  printNote(`\n${colour("red", `Error ${error.code}:`, process.stderr)} ${error.message}`);
  if (error.hint) printNote(`  ${error.hint}`);
  if (error.cause instanceof Error) printNote(`  caused by ${rootCause(error.cause).message}`);
  if (explanationOf(error.code)) printNote(`  More: bert-edge explain ${error.code}`);
}

/** Prints an error as JSON, for callers that asked for JSON. Codes of Node.js, such as ENOENT, are not ours. */
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
