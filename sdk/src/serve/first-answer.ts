import { nextTurn } from "../artifact/next-turn.ts";

/** Two ways to get the same answer. Each stops when its signal is aborted. */
interface Ways<T> {
  /** Asks another machine. Resolves to undefined if it has no answer. */
  elsewhere(signal: AbortSignal): Promise<T | undefined>;
  /** Computes the answer on this thread. */
  here(signal: AbortSignal): Promise<T>;
}

interface FirstAnswerOptions {
  /** Stops both ways. */
  readonly signal: AbortSignal | undefined;
  /** Receives both ways, one of which goes on until it notices that it is stopped. */
  readonly onLeft: (work: Promise<unknown>) => void;
}

/**
 * Tries two ways at the same time, returns the first answer and stops the other way.
 *
 * @throws the error of `here` when both ways fail
 */
export async function firstAnswer<T>(ways: Ways<T>, { signal, onLeft }: FirstAnswerOptions): Promise<T> {
  const done = new AbortController();
  const stop = signal ? AbortSignal.any([signal, done.signal]) : done.signal;
  const elsewhere = ways.elsewhere(stop).then((answer) => answer ?? Promise.reject(new Error("There is no answer.")));
  // It may fail before anything waits for it. Node exits on an unhandled rejection.
  elsewhere.catch(() => {});
  onLeft(elsewhere);
  // A fetch leaves only when the thread is free, and the computation would occupy the thread.
  await nextTurn();
  const here = ways.here(stop);
  onLeft(here);
  try {
    return await Promise.any([elsewhere, here]).catch(() => here);
  } finally {
    done.abort();
  }
}
