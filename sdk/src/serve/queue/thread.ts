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
 * time, which would be much for a text of one word. What a shorter computation has delayed is handled within this time, too.
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
   * Records a request that is noticed at `now`, and returns the earliest time at which it can have arrived. It is earlier than
   * `now` after a computation that occupied the thread.
   */
  noticed(now: number): number;
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

/** Computations during which something can have arrived that has not been handled. */
interface Unheard {
  readonly start: number;
  readonly end: number;
  readonly tookMs: number;
  /** Number of requests that were noticed since `end`. */
  readonly noticed: number;
}

export function sharedThread(now: () => number): Thread {
  /** The last computations. */
  let last: Unheard | undefined;
  /** Time at which a request whose work has ended began to let others run. */
  let settlingAt = Number.NEGATIVE_INFINITY;
  let busyMs = 0;
  let fetchSteps = 0;
  /** Times at which the answers of fetches are due. */
  const due = new Set<{ readonly at: number }>();

  const unheardAt = (at: number): Unheard | undefined =>
    last && (last.tookMs >= UNHEARD_MS || at < last.end + UNHEARD_MS) ? last : undefined;

  /**
   * Returns the computations after which others must have the thread before the next one. Where one request has come alone,
   * they have had it: its headers and its body took two turns of the event loop.
   */
  function unheardByOthers(): Unheard | undefined {
    const unheard = unheardAt(now());
    return unheard?.noticed === 1 && due.size === 0 ? undefined : unheard;
  }

  // A flood of requests that are refused must not stop the computations.
  async function letOthersRun(): Promise<void> {
    const before = last;
    const until = now() + Math.max(OTHERS_MS, OTHERS_SHARE * (before?.tookMs ?? 0));
    for (let step = 0; step < STEPS + fetchSteps; step++) {
      await nextTurn();
      if (now() > until) break;
    }
    fetchSteps = 0;
    if (last?.end === before?.end) last = undefined;
  }

  return {
    letOthersRun,
    occupied(start, tookMs) {
      const before = unheardByOthers() ?? { start, tookMs: 0 };
      last = { start: before.start, end: start + tookMs, tookMs: before.tookMs + tookMs, noticed: 0 };
      busyMs += tookMs;
    },
    mustYield: () => fetchSteps > 0 || isLong(unheardByOthers()),
    async settled(isWaiting) {
      if (now() - settlingAt < SETTLING_MS) return;
      // Those who wait let others run themselves.
      while (isLong(last) && !isWaiting()) {
        settlingAt = now();
        await letOthersRun();
      }
      settlingAt = Number.NEGATIVE_INFINITY;
    },
    isUnheard: () => unheardAt(now()) !== undefined,
    noticed(at) {
      const unheard = unheardAt(at);
      last = unheard && { ...unheard, noticed: unheard.noticed + 1 };
      return unheard?.start ?? at;
    },
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

const isLong = (unheard: Unheard | undefined): boolean => (unheard?.tookMs ?? 0) >= UNHEARD_MS;
