import type { Engine } from "../../runtime/engine/engine.ts";
import { MEAN_GAIN } from "../ewma.ts";
import { Refused } from "../refusal.ts";
import { anyone, type Caller } from "./caller.ts";
import { type CallersJob, fairQueue } from "./fair-queue.ts";
import { type Estimate, machineSpeed } from "./speed.ts";
import { sharedThread } from "./thread.ts";

/**
 * Milliseconds after which a waiting request looks at the queue again. workerd ends a request that waits only for another
 * request, because it seems to hang; the timer keeps it alive. Each look also finds requests that have vanished. If more than
 * `OFTEN` requests wait, each looks less often, so that all together look at most about 160 times a second.
 */
const LOOK_MS = 100;
const OFTEN = 16;

/**
 * A platform can end a request without notice. A request counts as vanished if it should move, but has not moved for this time
 * in ms plus the time of this number of computations. No request can move during a computation.
 */
const [VANISHED_MS, VANISHED_CALLS] = [1_000, 10];

/** Work of a request. */
export interface Work {
  readonly caller: Caller;
  /** Time on the queue's clock at which the answer is due; undefined without a deadline. */
  readonly dueAt: number | undefined;
  /** Predicted milliseconds of the calls alone, without other work between them. */
  readonly engineMs: number;
  /** Predicted milliseconds for which the work occupies the whole engine: half a call if two run side by side. */
  readonly loadMs: number;
  /** Predicted milliseconds of the whole work on the machine that measured the model. */
  readonly measuredMs: number;
  /** The calls of the engine. Each has a turn. */
  readonly calls: readonly unknown[];
  /** Number of calls that the engine computes side by side. */
  readonly parallel: number;
}

/** Stands for a request in the queue. */
export interface Ticket {
  /**
   * Waits until it is this request's turn, and runs `work`. Meanwhile, others use the engine only if it computes several
   * calls side by side. Then the request can have several turns at a time.
   *
   * @param ms predicted milliseconds of `work` on the machine that measured the model
   * @throws the reason of the signal when the caller has gone; Refused `budget_exceeded` when the answer would be
   *   very late, `overloaded` when the request lost its ticket; and the errors of `work`
   */
  turn<T>(ms: number, work: () => Promise<T>): Promise<T>;
  /** Milliseconds that this request has waited for its turns so far, all turns together. */
  waitedMs(): number;
}

export interface EnterOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time on the queue's clock after which the answer is of no use. */
  readonly giveUpAt?: number | undefined;
}

/** Properties of the engine that the queue depends on. */
export type EngineTraits = Pick<Engine, "blocksThread" | "compilesAsItRuns">;

/** The requests of this process that use one engine. */
export type TurnScheduler = ReturnType<typeof turnScheduler>;

/** A turn of a request. `predictedMs`: predicted time of its computation; undefined until the computation begins. */
interface Turn {
  predictedMs?: number;
}

/** A ticket, as the queue sees it. */
interface Waiting extends CallersJob {
  /** Number of calls that its engine computes side by side. The request takes a turn only while fewer turns are taken. */
  readonly parallel: number;
  /** Functions that let the request look at the queue again, one for each turn that it waits for. */
  readonly wakes: Set<() => void>;
  readonly turns: Set<Turn>;
  /** Number of turns that the request waits for. */
  claims: number;
  /** Number of calls that have not ended. */
  leftCalls: number;
  /** Time at which the request last moved, or was last woken to move. */
  seenAt: number;
  isRemoved: boolean;
}

/** Whether a request waits for a turn, or is between two turns. */
const wantsTurn = ({ claims, turns, leftCalls }: Waiting): boolean => claims > 0 || (turns.size === 0 && leftCalls > 0);

/**
 * Makes a queue in which every request runs its own work, in its own context, when it has its turn. So each Worker request
 * uses its own CPU limit, and its timers and fetches stay its own. Before a turn, the request lets everything else run that
 * has waited for the thread: new requests, finished answers, and fetches.
 */
export function turnScheduler(options: { readonly engine: EngineTraits; readonly now?: () => number }) {
  const { now = () => performance.now() } = options;
  const { blocksThread, compilesAsItRuns } = options.engine;
  const queue = fairQueue<Waiting>();
  const speed = machineSpeed({ compilesAsItRuns, now });
  const thread = sharedThread(now);
  /** The requests that have a turn. */
  const holders = new Set<Waiting>();
  /** The end of the last turn, if another request was waiting then. `unseenMs`: computation that the clock did not show. */
  let handedOver: { readonly at: number; readonly unseenMs: number } | undefined;
  let usedAt = Number.NEGATIVE_INFINITY;
  /** Number of requests here that have a deadline. */
  let deadlines = 0;
  /** Smoothed milliseconds of a computation. */
  let callMs = 0;

  const newTicket = (work: Pick<Waiting, "caller" | "dueAt" | "leftMs" | "leftCalls" | "parallel">): Waiting => ({
    ...{ ...work, claims: 0, seenAt: now(), isRemoved: false, wakes: new Set(), turns: new Set() },
  });
  const allTurns = (): Turn[] => [...holders].flatMap(({ turns }) => [...turns]);
  const isFree = (parallel: number): boolean => allTurns().length < parallel;

  /** Whether computations may follow each other at once: not while requests have deadlines, because a new one may be more urgent. */
  const mayFollow = (): boolean => deadlines === 0 && thread.owedMs() > 0;

  /**
   * Wakes the first request of the queue, if a turn is free. If several computations may follow each other, wakes all their requests
   * at once: a woken request gets the thread only after all events that waited for it before.
   */
  function pass(): void {
    const next = queue.first(wantsTurn);
    if (!next || !isFree(next.parallel)) return;
    next.seenAt = now();
    const woken = new Set<Waiting>();
    let owedMs = mayFollow() ? thread.owedMs() : 0;
    for (let job: Waiting | undefined = next; job; ) {
      for (const wake of job.wakes) wake();
      woken.add(job);
      owedMs -= job.leftMs / job.leftCalls;
      job = owedMs > 0 ? queue.first((other) => wantsTurn(other) && !woken.has(other)) : undefined;
    }
  }

  /** Whether a request has the next turn, or has it already. */
  const isNext = (own: Waiting): boolean => queue.first((job) => job === own || wantsTurn(job)) === own;

  function hold(own: Waiting): Turn {
    const turn: Turn = {};
    own.turns.add(turn);
    holders.add(own);
    pass();
    return turn;
  }

  function release(own: Waiting, turn: Turn): void {
    own.turns.delete(turn);
    if (own.turns.size === 0) holders.delete(own);
    pass();
  }

  function remove(ticket: Waiting): void {
    ticket.isRemoved = true;
    queue.remove(ticket);
    holders.delete(ticket);
    pass();
  }

  /** Removes requests that should move, but have vanished. */
  function dropVanished(): void {
    const longestMs = VANISHED_MS + VANISHED_CALLS * callMs;
    // A computation outside of this thread can take any time. A computation on this thread has always ended when this code runs.
    const mayTakeLong = () => !blocksThread && allTurns().some(({ predictedMs }) => predictedMs !== undefined);
    const nextToMove = () => holders.values().next().value ?? queue.first(wantsTurn);
    for (let next = nextToMove(); next && !mayTakeLong(); next = nextToMove()) {
      if (now() - next.seenAt <= longestMs) return;
      remove(next);
    }
  }

  /** Waits until the ticket is woken, its caller goes, or it is time to look. */
  async function wait(own: Waiting, signal: AbortSignal | undefined): Promise<void> {
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const timer = setTimeout(wake, LOOK_MS * Math.max(1, queue.size / OFTEN));
    own.wakes.add(wake);
    signal?.addEventListener("abort", wake);
    await woken;
    signal?.removeEventListener("abort", wake);
    own.wakes.delete(wake);
    clearTimeout(timer);
  }

  /** Waits for a turn. `othersRan`: whether other events got the thread just before the turn. */
  async function claim(own: Waiting, { signal, giveUpAt }: EnterOptions): Promise<{ turn: Turn; othersRan: boolean }> {
    for (;;) {
      own.seenAt = now();
      signal?.throwIfAborted();
      if (giveUpAt !== undefined && now() > giveUpAt) throw new Refused({ refusal: "budget_exceeded" });
      if (own.isRemoved) throw lostTicket();
      if (isFree(own.parallel) && isNext(own)) {
        const turn = hold(own);
        if (mayFollow() || !thread.mustYield()) return { turn, othersRan: false };
        await thread.letOthersRun();
        if (own.isRemoved) throw lostTicket();
        if (!signal?.aborted && isNext(own)) return { turn, othersRan: true };
        release(own, turn);
        signal?.throwIfAborted();
      }
      own.claims++;
      await wait(own, signal);
      own.claims--;
      dropVanished();
    }
  }

  /** Records the end of a turn. Returns its measured milliseconds, or the predicted ones where the clock stands still. */
  function ended(ms: number, start: number, parallel: number): number {
    const end = now();
    usedAt = end;
    const predictedMs = speed.predict(ms, 0).ms;
    const tookMs = end - start || predictedMs;
    speed.observe(ms, end - start);
    callMs += MEAN_GAIN * (tookMs - callMs);
    const othersMs = handedOver ? Math.max(0, start - handedOver.at - handedOver.unseenMs) : 0;
    handedOver = queue.size > parallel ? { at: end, unseenMs: end === start ? predictedMs : 0 } : undefined;
    if (blocksThread) thread.occupied(start, tookMs, othersMs);
    return tookMs;
  }

  async function take<T>(own: Waiting, options: EnterOptions, ms: number, work: () => Promise<T>) {
    const asked = now();
    const { turn, othersRan } = await claim(own, options);
    try {
      const start = now();
      const since = handedOver ? handedOver.at + handedOver.unseenMs : othersRan ? asked : undefined;
      if (since === undefined) speed.forgetGap();
      else speed.observeGap(Math.max(0, start - since));
      own.seenAt = start;
      turn.predictedMs = speed.predict(ms, 0).ms;
      try {
        return { result: await work(), waitedMs: start - asked };
      } finally {
        own.leftCalls--;
        if (!own.isRemoved) queue.took(own, ended(ms, start, own.parallel) / own.parallel);
      }
    } finally {
      if (!own.isRemoved) release(own, turn);
    }
  }

  /** Predicts how long new work would wait for its last turn, and whether it would make other requests or fetches late. */
  function outlook({ caller, dueAt, engineMs, loadMs, calls, parallel }: Omit<Work, "measuredMs">) {
    dropVanished();
    const job = { caller, dueAt, leftMs: loadMs };
    const predictions = allTurns().map(({ predictedMs = 0 }) => predictedMs);
    const hasRoom = predictions.length < parallel;
    // A computation that has begun ends first, even for a more urgent request.
    const untilFreeMs = hasRoom ? 0 : Math.min(...predictions) / parallel;
    const waitMs =
      hasRoom && queue.size < parallel
        ? 0
        : Math.max(queue.waitMs(job, loadMs / Math.max(1, calls.length)), untilFreeMs);
    const startAt = now() + waitMs;
    const delaysFetches = blocksThread && thread.awaitsBetween(startAt, startAt + engineMs);
    return { waitMs, isNext: !queue.has(caller), delaysOthers: queue.delaysOthers(job, now()), delaysFetches };
  }

  return {
    speed,
    noticed: thread.noticed,
    busyMs: thread.busyMs,
    startFetch: thread.startFetch,
    outlook,
    /** Predicts the milliseconds that a new request with a deadline would wait for its turn. Default: the longest wait of any caller. */
    waitMs(caller?: Caller): number {
      if (!caller) return queue.leftMs();
      const { parallel } = holders.values().next().value ?? queue.first() ?? { parallel: 1 };
      // With a deadline, however late, the request goes before work without a deadline.
      const work = { dueAt: Number.MAX_VALUE, engineMs: 0, loadMs: 0, calls: [], parallel };
      return outlook({ ...work, caller }).waitMs;
    },
    /**
     * Runs the deployment's own work, if no request is here. The work is not in the queue, so that no request seems to wait for it.
     *
     * @param ms predicted milliseconds of `work` on the machine that measured the model
     * @returns the milliseconds that it took; undefined if a request was here
     */
    async whenIdle(ms: number, work: () => Promise<unknown>): Promise<number | undefined> {
      if (thread.isUnheard()) await thread.letOthersRun();
      if (queue.size > 0 || !isFree(1)) return undefined;
      const start = now();
      const own = newTicket({ caller: anyone, dueAt: undefined, leftMs: 0, leftCalls: 0, parallel: 1 });
      const turn = hold(own);
      turn.predictedMs = speed.predict(ms, 0).ms;
      try {
        await work();
        return now() - start;
      } finally {
        ended(ms, start, 1);
        release(own, turn);
      }
    },
    /** Runs `use` with a ticket. The ticket is given up when the returned promise settles. */
    async using<T>(work: Work, options: EnterOptions, use: (ticket: Ticket) => Promise<T>): Promise<T> {
      const { caller, dueAt, loadMs, measuredMs, calls, parallel } = work;
      const own = newTicket({ caller, dueAt, leftMs: loadMs, leftCalls: calls.length, parallel });
      let leftMs = measuredMs;
      let waitedMs = 0;
      const counted = dueAt === undefined ? 0 : 1;
      deadlines += counted;
      queue.add(own);
      try {
        return await use({
          async turn(ms, work) {
            const taken = await take(own, options, ms, work);
            waitedMs += taken.waitedMs;
            leftMs -= ms;
            // The speed may have changed since the request came.
            own.leftMs = Math.max(0, speed.predict(leftMs, own.leftCalls).ms / parallel);
            return taken.result;
          },
          waitedMs: () => waitedMs,
        });
      } finally {
        deadlines -= counted;
        remove(own);
      }
    },
    /** Smoothed milliseconds of a computation. */
    callMs: () => callMs,
    /** Time on the queue's clock at which the last computation ended. */
    usedAt: () => usedAt,
    /** Estimated time by which the thread handles an event late: while requests are here, up to a whole computation. */
    lag: (): Estimate => (queue.size > 0 ? { ms: callMs / 2, spreadMs: callMs / 4 } : { ms: 0, spreadMs: 0 }),
    /** Resolves when everything that arrived during the last computation has been handled. */
    settled: () => thread.settled(() => queue.size > 0),
  };
}

const lostTicket = (): Refused => new Refused({ refusal: "overloaded", retryAfterMs: VANISHED_MS });
