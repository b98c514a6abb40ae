import { BertEdgeError } from "../artifact/error.ts";

/** stdout carries only the result. Progress and notes go to stderr. */
export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
export const printResult = (line: string): void => void process.stdout.write(`${line}\n`);
export const printNote = (line: string): void => void process.stderr.write(`${line}\n`);

/** Prints each stage and its duration when the stage ends. */
export function stageLog(): {
  stage: (name: string) => void;
  progress: (now: { message: string }) => void;
  done: () => void;
} {
  let current: { name: string; start: number } | undefined;
  const done = () => {
    if (!current) return;
    const seconds = ((performance.now() - current.start) / 1000).toFixed(1);
    printNote(`${process.stderr.isTTY ? "\r" : ""}✓ ${current.name.padEnd(46)} ${seconds} s`);
    current = undefined;
  };
  function stage(name: string): void {
    done();
    current = { name, start: performance.now() };
    if (process.stderr.isTTY) process.stderr.write(`… ${name}`);
  }
  return {
    done,
    stage,
    progress({ message }) {
      if (message !== current?.name) stage(message);
    },
  };
}

/** Prints code, message and hint of a BertEdgeError. Any other error is a bug, so its whole stack is printed. */
export function printError(error: unknown): void {
  if (!(error instanceof BertEdgeError)) {
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
