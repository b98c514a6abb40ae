import { printable } from "../artifact/printable.ts";

/** What a progress line shows. */
export interface ProgressState {
  readonly name: string;
  /** Finished share from 0 to 1; undefined if not known. */
  readonly fraction: number | undefined;
  readonly elapsedMs: number;
  /** Share that was finished before the work began, from 0 to 1. Default 0. */
  readonly startFraction?: number | undefined;
  /** Text that follows the name, such as a rate. */
  readonly detail?: string | undefined;
}

/** Time after which the finished share says enough about the speed to predict the end. */
const MIN_PREDICTION_MS = 1_000;
const BAR_WIDTH = 20;
/** Columns of the name. Names are shortened where the terminal is narrow. */
export const NAME_WIDTH = 48;
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
