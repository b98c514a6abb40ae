import { BertEdgeError } from "../artifact/error.ts";
import { BertEdgeClientError } from "../client/errors/bert-edge-client-error.ts";

/** stdout carries only the result. Progress and notes go to stderr. */
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
export const printResult = (line: string): void => void process.stdout.write(`${line}\n`);
export const printNote = (line: string): void => void process.stderr.write(`${line}\n`);

/** Time between two reports on a stage that is still running: on a terminal, and in a log. */
const TERMINAL_MS = 1_000;
const LOG_MS = 10_000;

/** Escape sequence that deletes the rest of a terminal's line. */
const DELETE_LINE = "\x1b[K";

interface StageLog {
  stage(name: string): void;
  progress(now: { message: string; fraction?: number | undefined }): void;
  done(): void;
}

/**
 * Prints each stage and its duration when the stage ends. While a stage runs, prints from time to time how long it has
 * been running and, if known, its finished share.
 */
export function stageLog(): StageLog {
  const { isTTY } = process.stderr;
  const [begin, end] = isTTY ? ["\r", DELETE_LINE] : ["", "\n"];
  let current: { name: string; start: number; fraction: number | undefined; timer: NodeJS.Timeout } | undefined;
  const seconds = (start: number, digits: number) => ((performance.now() - start) / 1000).toFixed(digits);
  function report(): void {
    if (!current) return;
    const { name, start, fraction } = current;
    const share = fraction === undefined ? "" : `${Math.round(100 * fraction)} %, `;
    process.stderr.write(`${begin}… ${name}: ${share}${seconds(start, 0)} s${end}`);
  }
  function done(): void {
    if (!current) return;
    clearInterval(current.timer);
    printNote(`${begin}✓ ${current.name.padEnd(46)} ${seconds(current.start, 1)} s${isTTY ? DELETE_LINE : ""}`);
    current = undefined;
  }
  function stage(name: string): void {
    done();
    const timer = setInterval(report, isTTY ? TERMINAL_MS : LOG_MS).unref();
    current = { name, start: performance.now(), fraction: undefined, timer };
    if (isTTY) process.stderr.write(`… ${name}`);
  }
  return {
    done,
    stage,
    progress({ message, fraction }) {
      if (message !== current?.name) stage(message);
      if (current) current.fraction = fraction;
    },
  };
}

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
