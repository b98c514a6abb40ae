import { colour } from "./colour.ts";
import { printNote } from "./output.ts";
import { logLine, NAME_WIDTH, type ProgressState, terminalLine } from "./progress-line.ts";

/** Time between two reports on work that is still running, on a terminal. */
const TERMINAL_MS = 100;
/** Time until the first report in a log. Each later one comes after twice the time: 5 s, 10 s, 20 s, … */
const LOG_MS = 5_000;

/** Time after which the elapsed time is shown again, even if no progress arrived. */
const IDLE_MS = 1_000;

/** Columns of a terminal that does not tell its width. */
const DEFAULT_COLUMNS = 80;

/** Escape sequence that deletes the rest of a terminal's line. */
const DELETE_LINE = "\x1b[K";

/** A log that is disposed before `done` ends without a word about the running work. */
export interface StageLog extends Disposable {
  stage(name: string): void;
  progress(now: StageProgress): void;
  done(): void;
}

type StageProgress = Pick<ProgressState, "startFraction" | "detail"> & {
  readonly message: string;
  readonly fraction?: number | undefined;
};

interface Current {
  readonly name: string;
  readonly start: number;
  readonly timer: NodeJS.Timeout;
  progress: Pick<ProgressState, "fraction" | "startFraction" | "detail">;
  /** Time of the next report. */
  due: number;
}

/**
 * Shows the progress of a command on stderr. On a terminal, the running work has one line with a bar, which is written
 * over. Elsewhere it gets a line after 5, 10, 20, 40, … seconds. Finished work gets a line with its duration.
 */
export function stageLog(): StageLog {
  const { isTTY, columns = DEFAULT_COLUMNS } = process.stderr;
  let current: Current | undefined;
  function report(): void {
    if (!current) return;
    const { name, start, progress } = current;
    const now = performance.now();
    current.due = isTTY ? now + TERMINAL_MS : now + Math.max(LOG_MS, now - start);
    const state = { name, ...progress, elapsedMs: now - start };
    if (isTTY) process.stderr.write(`\r${terminalLine(state, columns)}${DELETE_LINE}`);
    else printNote(logLine(state));
  }
  // Engines block this thread, and timers with it. Reports are therefore written when progress arrives, too.
  function reportIfDue(): void {
    if (current && performance.now() >= current.due) report();
  }
  function done(): void {
    if (!current) return;
    clearInterval(current.timer);
    const seconds = ((performance.now() - current.start) / 1000).toFixed(1);
    const sign = `${isTTY ? `\r${DELETE_LINE}` : ""}${colour("green", "✓", process.stderr)}`;
    printNote(` ${current.name.padEnd(NAME_WIDTH)} ${seconds} s`, sign);
    current = undefined;
  }
  function stage(name: string): void {
    done();
    const timer = setInterval(reportIfDue, IDLE_MS).unref();
    const start = performance.now();
    current = { name, start, progress: { fraction: undefined }, due: start + (isTTY ? TERMINAL_MS : LOG_MS), timer };
    if (isTTY) report();
  }
  return {
    [Symbol.dispose]: () => clearInterval(current?.timer),
    done,
    stage,
    progress({ message, fraction, startFraction, detail }) {
      if (message !== current?.name) stage(message);
      if (!current) return;
      current.progress = { fraction, startFraction, detail };
      reportIfDue();
    },
  };
}
