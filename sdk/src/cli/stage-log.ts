import { printable } from "../artifact/printable.ts";
import { colour, printNote } from "./output.ts";
import { COLUMNS } from "./screen/on-screen.ts";

/** Time in ms between two reports on running work, on a terminal. */
const TERMINAL_MS = 100;
/** Time in ms until the first report in a log. The time doubles with each report: 5 s, 10 s, 20 s, … */
const LOG_MS = 5_000;

/** Time in ms after which the elapsed time is shown again, even if no progress arrived. */
const IDLE_MS = 1_000;

/** Work that took less time in ms is shown without it. */
const SHORT_MS = 50;

/** Escape sequence that deletes the rest of a terminal's line. */
const DELETE_LINE = "\x1b[K";

/** Log of a command's work. Disposing it before `done` ends it without a line about the running work. */
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
  const { isTTY } = process.stderr;
  const columns = process.stderr.columns || COLUMNS;
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
  function deleteRunning(): void {
    if (isTTY) process.stderr.write(`\r${DELETE_LINE}`);
  }
  function done(): void {
    if (!current) return;
    clearInterval(current.timer);
    const ms = performance.now() - current.start;
    const time = ms < SHORT_MS ? "" : `${(ms / 1000).toFixed(1).padStart(5)} s`;
    deleteRunning();
    printNote(` ${current.name.padEnd(NAME_WIDTH)} ${time}`.trimEnd(), colour("green", "✓", process.stderr));
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
    [Symbol.dispose]() {
      if (!current) return;
      clearInterval(current.timer);
      deleteRunning();
    },
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

/** The content of a progress line. */
interface ProgressState {
  readonly name: string;
  /** Finished share from 0 to 1; undefined if not known. */
  readonly fraction: number | undefined;
  readonly elapsedMs: number;
  /** Share that was finished before the work began, from 0 to 1. Default 0. */
  readonly startFraction?: number | undefined;
  /** Text that follows the name, such as a rate. */
  readonly detail?: string | undefined;
}

/** Minimum elapsed time in ms for a prediction of the end. Before, the finished share says too little about the speed. */
const MIN_PREDICTION_MS = 1_000;
const BAR_WIDTH = 20;
/** Columns for the name of the work. On a narrow terminal, the name is shortened. */
const NAME_WIDTH = 48;
const MIN_NAME_WIDTH = 16;

/**
 * Predicts how long the work still takes, if it goes on at the same speed.
 *
 * @returns milliseconds; undefined if not known, or too early to say
 */
export function remainingMs({
  fraction = 0,
  startFraction = 0,
  elapsedMs,
}: Omit<ProgressState, "name">): number | undefined {
  const finished = fraction - startFraction;
  if (finished <= 0 || elapsedMs < MIN_PREDICTION_MS) return undefined;
  return (elapsedMs * (1 - fraction)) / finished;
}

/** Describes progress as text for a log: `… observe activations: 25 %, 10 s, 30 s left`. */
export function logLine(state: ProgressState): string {
  return `… ${state.name}: ${[percentOf(state), state.detail, ...timesOf(state)].filter(Boolean).join(", ")}`;
}

/**
 * Describes progress with a bar, in one line of a terminal. The line never reaches the last column, because a line that
 * wraps cannot be written over.
 */
export function terminalLine(state: ProgressState, columns: number): string {
  const [name, detail] = [printable(state.name), state.detail && printable(state.detail)];
  const done = Math.round((state.fraction ?? 0) * BAR_WIDTH);
  const bar = state.fraction === undefined ? "" : `${"█".repeat(done)}${"░".repeat(BAR_WIDTH - done)} `;
  const tail = `${bar}${[percentOf(state), detail, ...timesOf(state)].filter(Boolean).join(", ")}`;
  const width = Math.min(NAME_WIDTH, columns - tail.length - "… ".length - 2);
  return shortened(`… ${shortened(name, Math.max(width, MIN_NAME_WIDTH)).padEnd(width)} ${tail}`, columns - 1);
}

const percentOf = ({ fraction }: ProgressState): string =>
  fraction === undefined ? "" : `${Math.floor(100 * fraction)} %`;

function timesOf(state: ProgressState): string[] {
  const remaining = remainingMs(state);
  return [duration(state.elapsedMs), ...(remaining === undefined ? [] : [`${duration(remaining)} left`])];
}

const shortened = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(width - 1, 0))}…`;

/** Formats milliseconds: `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
