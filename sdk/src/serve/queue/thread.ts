import { nextTurn } from "../../artifact/next-turn.ts";

/**
 * Turns of the event loop before a computation. A request that has just arrived needs two, for its headers and its body:
 * with one, it would find the next computation begun.
 */
const STEPS = 2;

/** Further turns for a fetch that has just started: it opens a connection, and sends its headers and its body. */
const FETCH_STEPS = 4;

/**
 * Milliseconds that computations may take together before others have the thread. Handing over the thread takes 0.1 ms of CPU
 * time, which would be much for a text of one word.
 */
const UNHEARD_MS = 2;

/** Others have the thread for this multiple of the last computations at most, so that computations get a quarter of it. */
const OTHERS_SHARE = 3;
/** Milliseconds that others have at least. */
const OTHERS_MS = 1;

/** Milliseconds after which a request that lets others run counts as vanished. */
const SETTLING_MS = 100;

/** The thread that computations share with everything else. Times are in milliseconds. */
export interface Thread {
  /** Records a computation that occupied the thread. */
  occupied(start: number, tookMs: number): void;
  /** Whether others must have the thread before the next computation. */
  mustYield(): boolean;
  /** Lets everything else run that has waited for the thread, but not for too long. */
  letOthersRun(): Promise<void>;
  /** Lets others run until everything that arrived during the last computations has been handled, while nobody waits. */
  settled(isWaiting: () => boolean): Promise<void>;
  /** Whether something can have arrived during the last computations that has not been handled. */
  isUnheard(): boolean;
  /**
   * Returns the earliest time at which an event that is handled at `now` can have arrived. It is earlier than `now` after
   * a computation that occupied the thread.
   */
  arrivedAfter(now: number): number;
  /** Milliseconds for which computations have occupied the thread so far. */
  busyMs(): number;
  /**
   * Lets a fetch that is started now leave before the next computation.
   *
   * @param dueAt time on the queue's clock at which its answer must be handled; undefined without a deadline
   * @returns a function to call when the answer has been handled
   */
  startFetch(dueAt: number | undefined): () => void;
  /** Whether the answer of a fetch is due after `start` and before `end`. */
  awaitsBetween(start: number, end: number): boolean;
}

export function sharedThread(now: () => number): Thread {
  /** The last computations, until everything that arrived meanwhile has been handled. */
  let unheard: { readonly start: number; readonly tookMs: number } | undefined;
  /** Time at which a request whose work has ended began to let others run. */
  let settlingAt = Number.NEGATIVE_INFINITY;
  let busyMs = 0;
  let fetchSteps = 0;
  /** Times at which the answers of fetches are due. */
  const due = new Set<{ readonly at: number }>();

  // A flood of requests that are refused must not stop the computations.
  async function letOthersRun(): Promise<void> {
    const before = unheard;
    const until = now() + Math.max(OTHERS_MS, OTHERS_SHARE * (before?.tookMs ?? 0));
    for (let step = 0; step < STEPS + fetchSteps; step++) {
      await nextTurn();
      if (now() > until) break;
    }
    fetchSteps = 0;
    if (unheard === before) unheard = undefined;
  }

  return {
    letOthersRun,
    occupied(start, tookMs) {
      unheard = { start: unheard?.start ?? start, tookMs: (unheard?.tookMs ?? 0) + tookMs };
      busyMs += tookMs;
    },
    mustYield: () => fetchSteps > 0 || (unheard?.tookMs ?? 0) >= UNHEARD_MS,
    async settled(isWaiting) {
      if (now() - settlingAt < SETTLING_MS) return;
      // Those who wait let others run themselves.
      while (unheard && !isWaiting()) {
        settlingAt = now();
        await letOthersRun();
      }
      settlingAt = Number.NEGATIVE_INFINITY;
    },
    isUnheard: () => unheard !== undefined,
    arrivedAfter: (at) => unheard?.start ?? at,
    busyMs: () => busyMs,
    startFetch(dueAt) {
      fetchSteps = FETCH_STEPS;
      if (dueAt === undefined) return () => {};
      const answer = { at: dueAt };
      due.add(answer);
      return () => due.delete(answer);
    },
    awaitsBetween: (start, end) => due.values().some(({ at }) => at > start && at < end),
  };
}
