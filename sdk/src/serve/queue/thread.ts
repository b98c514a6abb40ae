import { nextTurn } from "../../artifact/next-turn.ts";

/** Turns of the event loop before a computation: a request that has just arrived needs two, for headers and body. */
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
/** Longest time in ms for which computations that had too little of the thread may follow each other. */
const MOST_OWED_MS = 50;

/** Longest time in ms for which requests that came alone are computed one after the other: their sockets may all be ready at once. */
const MOST_ALONE_MS = 16;

/** Milliseconds after which a request that lets others run counts as vanished. */
const SETTLING_MS = 100;

/** Computations during which something can have arrived that has not been handled. */
interface Unheard {
  readonly start: number;
  readonly end: number;
  readonly tookMs: number;
  /** Number of requests that were noticed since `end`. */
  readonly noticed: number;
}

/** Makes the thread that computations share with everything else. Times are in milliseconds. */
export function sharedThread(now: () => number) {
  /** The last computations. */
  let last: Unheard | undefined;
  /** Time at which a request whose work has ended began to let others run. */
  let settlingAt = Number.NEGATIVE_INFINITY;
  let busyMs = 0;
  let fetchSteps = 0;
  /** Milliseconds of computations for requests that came alone, since others had the thread. */
  let aloneMs = 0;
  /** Milliseconds of their quarter that computations have not had, while some waited. */
  let owedMs = 0;
  /** Times at which the answers of fetches are due. */
  const due = new Set<{ readonly at: number }>();

  const unheardAt = (at: number): Unheard | undefined =>
    last && (last.tookMs >= UNHEARD_MS || at < last.end + UNHEARD_MS) ? last : undefined;

  /**
   * Returns the computations after which others must have the thread before the next one. Where one request has come alone,
   * they have had it: its headers and its body took two turns of the event loop.
   */
  function unheardByOthers(at: number): Unheard | undefined {
    const unheard = unheardAt(at);
    return unheard?.noticed === 1 && due.size === 0 && aloneMs < MOST_ALONE_MS ? undefined : unheard;
  }

  /** Lets everything else run that has waited for the thread, but not for too long: a flood must not stop the computations. */
  async function letOthersRun(): Promise<void> {
    const before = last;
    const until = now() + Math.max(OTHERS_MS, OTHERS_SHARE * (before?.tookMs ?? 0));
    for (let step = 0; step < STEPS + fetchSteps; step++) {
      await nextTurn();
      if (now() > until) break;
    }
    fetchSteps = 0;
    aloneMs = 0;
    if (last?.end === before?.end) last = undefined;
  }

  return {
    letOthersRun,
    /** Records a computation that occupied the thread. `othersMs`: time that others had since the last one, while it waited. */
    occupied(start: number, tookMs: number, othersMs: number): void {
      const cameAlone = unheardAt(start) && !unheardByOthers(start);
      aloneMs = cameAlone ? aloneMs + tookMs : 0;
      // One that came alone may have been the last for which others need not run.
      const before = unheardByOthers(start) ?? { start, tookMs: 0 };
      last = { start: before.start, end: start + tookMs, tookMs: before.tookMs + tookMs, noticed: 0 };
      busyMs += tookMs;
      owedMs = Math.min(Math.max(0, owedMs) + othersMs / OTHERS_SHARE, MOST_OWED_MS) - tookMs;
    },
    /** Whether others must have the thread before the next computation, unless it is owed. */
    mustYield: () => fetchSteps > 0 || isLong(unheardByOthers(now())),
    /**
     * Milliseconds of computations that may follow before others have the thread again. Where many wait for it, everybody gets it late:
     * then others have more than their part between two computations.
     */
    owedMs: () => owedMs,
    /** Lets others run until everything that arrived during the last computations has been handled, while nobody waits. */
    async settled(isWaiting: () => boolean): Promise<void> {
      if (now() - settlingAt < SETTLING_MS) return;
      // Those who wait let others run themselves.
      while (isLong(last) && !isWaiting()) {
        settlingAt = now();
        await letOthersRun();
      }
      settlingAt = Number.NEGATIVE_INFINITY;
    },
    /** Whether something can have arrived during the last computations that has not been handled. */
    isUnheard: () => unheardAt(now()) !== undefined,
    /** Records a request noticed at `at`. Returns its earliest arrival: the start of what occupied the thread. */
    noticed(at: number): number {
      const unheard = unheardAt(at);
      last = unheard && { ...unheard, noticed: unheard.noticed + 1 };
      return unheard?.start ?? at;
    },
    /** Milliseconds for which computations have occupied the thread so far. */
    busyMs: () => busyMs,
    /**
     * Lets a fetch that is started now leave before the next computation.
     *
     * @param dueAt time on the queue's clock at which its answer must be handled; undefined without a deadline
     * @returns a function to call when the answer has been handled
     */
    startFetch(dueAt: number | undefined): () => void {
      fetchSteps = FETCH_STEPS;
      if (dueAt === undefined) return () => {};
      const answer = { at: dueAt };
      due.add(answer);
      return () => due.delete(answer);
    },
    /** Whether the answer of a fetch is due after `start` and before `end`. */
    awaitsBetween: (start: number, end: number) => due.values().some(({ at }) => at > start && at < end),
  };
}

const isLong = (unheard: Unheard | undefined): boolean => (unheard?.tookMs ?? 0) >= UNHEARD_MS;
