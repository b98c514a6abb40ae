import { nextTurn } from "../../artifact/next-turn.ts";

/** Turns of the event loop before a computation: a request that has just arrived needs two, for headers and body. */
const STEPS = 2;

/** Further turns for a fetch that has just started: it opens a connection, and sends its headers and its body. */
const FETCH_STEPS = 4;

/**
 * Time in ms that computations may take together before other events get the thread. Handing over the thread takes 0.1 ms of CPU
 * time, which would be much for a text of one word. Events delayed by a shorter computation count as handled `UNHEARD_MS` after it.
 */
const UNHEARD_MS = 2;

/** Other events get the thread for at most this multiple of the last computations' time. So computations get a quarter of the thread. */
const OTHERS_SHARE = 3;
/** Minimum time in ms that other events get. */
const OTHERS_MS = 1;
/** Maximum time in ms for which computations may follow each other after they had less than their quarter of the thread. */
const MOST_OWED_MS = 50;

/** Maximum time in ms of computations in a row for requests that came alone. Then other events get the thread: sockets may be ready. */
const MOST_ALONE_MS = 16;

/** Time in ms after which a finished request that lets other events run counts as vanished. */
const SETTLING_MS = 100;

/** Computations in a row, during which events can have arrived that are not handled yet. */
interface Unheard {
  readonly start: number;
  readonly end: number;
  readonly tookMs: number;
  /** Number of requests that were noticed since `end`. */
  readonly noticed: number;
}

/** Makes the thread that computations share with all other events: requests, answers and fetches. Times are in milliseconds. */
export function sharedThread(now: () => number) {
  /** The last computations. */
  let last: Unheard | undefined;
  /** Time at which a request whose work has ended began to let other events run. */
  let settlingAt = Number.NEGATIVE_INFINITY;
  let busyMs = 0;
  let fetchSteps = 0;
  /** Milliseconds of computations for requests that came alone, since other events last had the thread. */
  let aloneMs = 0;
  /** Milliseconds that computations lack of their quarter of the thread. Only time while a computation waits counts. */
  let owedMs = 0;
  /** Times at which the answers of fetches are due. */
  const due = new Set<{ readonly at: number }>();

  const unheardAt = (at: number): Unheard | undefined =>
    last && (last.tookMs >= UNHEARD_MS || at < last.end + UNHEARD_MS) ? last : undefined;

  /**
   * Returns the last computations, if other events must get the thread before the next one. If exactly one request has come
   * since, other events have had the thread: the headers and the body of the request took two turns of the event loop.
   */
  function unheardByOthers(at: number): Unheard | undefined {
    const unheard = unheardAt(at);
    return unheard?.noticed === 1 && due.size === 0 && aloneMs < MOST_ALONE_MS ? undefined : unheard;
  }

  /** Lets all events run that wait for the thread, but not for too long: a flood must not stop the computations. */
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
    /** Records a computation that occupied the thread. `othersMs`: time that other events had before, while the computation waited. */
    occupied(start: number, tookMs: number, othersMs: number): void {
      const cameAlone = unheardAt(start) && !unheardByOthers(start);
      aloneMs = cameAlone ? aloneMs + tookMs : 0;
      // A request that came alone may have used up MOST_ALONE_MS. Then its computation continues the row.
      const before = unheardByOthers(start) ?? { start, tookMs: 0 };
      last = { start: before.start, end: start + tookMs, tookMs: before.tookMs + tookMs, noticed: 0 };
      busyMs += tookMs;
      owedMs = Math.min(Math.max(0, owedMs) + othersMs / OTHERS_SHARE, MOST_OWED_MS) - tookMs;
    },
    /** Whether other events must get the thread before the next computation, unless `owedMs` is positive. */
    mustYield: () => fetchSteps > 0 || isLong(unheardByOthers(now())),
    /**
     * Milliseconds of computations that may follow each other before other events get the thread again. When many events wait, they
     * take more than their share between two computations, and owe the rest to the computations.
     */
    owedMs: () => owedMs,
    /** Lets other events run until all that arrived during the last computations are handled, or until a request waits. */
    async settled(isWaiting: () => boolean): Promise<void> {
      if (now() - settlingAt < SETTLING_MS) return;
      // A waiting request lets other events run itself, before its turn.
      while (isLong(last) && !isWaiting()) {
        settlingAt = now();
        await letOthersRun();
      }
      settlingAt = Number.NEGATIVE_INFINITY;
    },
    /** Whether events can have arrived during the last computations that are not handled yet. */
    isUnheard: () => unheardAt(now()) !== undefined,
    /** Records a request noticed at `at`. Returns its earliest arrival: the start of the computations that occupied the thread. */
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
