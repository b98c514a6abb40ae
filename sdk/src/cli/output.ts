import { BertEdgeError } from "../artifact/error.ts";
import { BertEdgeClientError } from "../client/errors/bert-edge-client-error.ts";

/** stdout carries only the result. Progress and notes go to stderr. */
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
export const printResult = (line: string): void => void process.stdout.write(`${line}\n`);
export const printNote = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints code, message and hint of an error of bert-edge. Any other error is a bug, so its whole stack is printed. */
export function printError(error: unknown): void {
  if (!(error instanceof BertEdgeError || error instanceof BertEdgeClientError)) {
    printNote(`\n${error instanceof Error ? error.stack : String(error)}`);
    return;
  }
  printNote(`\nError ${error.code}: ${error.message}`);
  if (error.hint) printNote(`  ${error.hint}`);
  if (error.cause instanceof Error) printNote(`  caused by ${rootCause(error.cause).message}`);
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
