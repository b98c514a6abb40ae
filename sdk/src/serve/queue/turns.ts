import { BertEdgeError } from "../../artifact/error.ts";
import { type Estimate, machineSpeed, type Speed } from "./speed.ts";
import { type Job, workQueue } from "./work-queue.ts";

/**
 * Milliseconds between two looks of a waiting request at the queue. workerd ends a request that waits for another
 * request only, because it seems to hang; the timer keeps the request alive. It also finds requests that have vanished.
 */
const LOOK_MS = 100;

/** Looks without a sign of life, per waiting request, after which a request counts as vanished: about one second. */
const MAX_MISSED = 10;

/**
 * Turns of the event loop before a computation. A request that has just arrived needs two, for its headers and its body:
 * with one, it would find the next computation begun.
 */
const STEPS = 2;

/** Further turns for a fetch that has just started: it opens a connection, and sends its headers and its body. */
const FETCH_STEPS = 4;

/** Weight of a computation in the smoothed time of computations. */
const CALL_GAIN = 1 / 8;

/** What a new request can expect of the queue. */
export interface Outlook {
  /** Predicted milliseconds before the last part of its work begins. */
  readonly waitMs: number;
  /** Whether it would make another request late. */
  readonly delaysOthers: boolean;
}

/** Work of a request. */
export interface Work {
  /** Time on the queue's clock at which the answer is due; undefined without a deadline. */
  readonly dueAt: number | undefined;
  /** Predicted time of the whole work. */
  readonly compute: Estimate;
}

/** A request's place in the queue. */
export interface Place {
  /**
   * Waits until it is this request's turn, and runs `work`. Nothing else uses the engine meanwhile.
   *
   * @param ms predicted milliseconds of `work` on the machine that measured the model
   * @throws the reason of the signal when the caller has gone; BertEdgeError `budget_exceeded` when the answer would be
   *   very late, `overloaded` when the request lost its place; and the errors of `work`
   */
  turn<T>(ms: number, work: () => Promise<T>): Promise<T>;
  /** Milliseconds that this request has waited for its turns so far. */
  waitedMs(): number;
}

export interface EnterOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time on the queue's clock after which the answer is of no use. */
  readonly giveUpAt?: number | undefined;
}

/** The requests of this process that use one engine, one at a time. */
export interface Turns {
  readonly speed: Speed;
  /** Number of requests that wait or compute. */
  readonly size: number;
  outlook(work: Work): Outlook;
  /** Runs `use` with a place in the queue. The place is given up when the returned promise settles. */
  using<T>(work: Work, options: EnterOptions, use: (place: Place) => Promise<T>): Promise<T>;
  /**
   * Returns the earliest time at which an event that is handled at `now` can have arrived. It is earlier than `now` after
   * a computation that occupied the thread.
   */
  arrivedAfter(now: number): number;
  /** Milliseconds for which computations have occupied the thread so far. */
  busyMs(): number;
  /** Milliseconds by which the thread handles an event late, on average: about half of a computation while it is busy. */
  lagMs(): number;
  /** Lets a fetch that is started now leave before the next computation. */
  letLeave(): void;
  /** Resolves when everything that arrived during the last computation has been handled. */
  settled(): Promise<void>;
}

export interface TurnsOptions {
  /** Whether the engine occupies the thread while it computes. */
  blocksThread: boolean;
  now?: () => number;
}

/** A place, as the queue sees it. */
interface Waiting extends Job {
  /** Makes the request look at the queue again. */
  wake: () => void;
  missed: number;
}

/**
 * Makes a queue in which every request runs its own work, in its own context, when it has its turn. So that each Worker
 * request uses its own CPU limit, and its timers and fetches stay its own. Before a turn, the request lets everything else
 * run that has waited for the thread: new requests, finished answers, and fetches.
 */
export function turns({ blocksThread, now = () => performance.now() }: TurnsOptions): Turns {
  const queue = workQueue<Waiting>();
  const speed = machineSpeed();
  let busyMs = 0;
  /** Smoothed milliseconds of a computation that occupies the thread. */
  let callMs = 0;
  let fetchSteps = 0;
  let holder: Waiting | undefined;
  let isComputing = false;
  /** The last turn that occupied the thread, until everything that arrived meanwhile has been handled. */
  let lastTurn: { start: number } | undefined;
  /** End of the last turn, if another request was waiting then. */
  let handedOverAt: number | undefined;

  async function letOthersRun(): Promise<void> {
    for (let step = 0; step < STEPS + fetchSteps; step++) await sleep(0).done;
    fetchSteps = 0;
    lastTurn = undefined;
  }

  /** Records a computation. Where the clock stands still, its predicted time counts. */
  function occupied(start: number, ms: number): void {
    lastTurn = { start };
    busyMs += ms;
    callMs += CALL_GAIN * (ms - callMs);
  }

  /** Lets the first request of the queue take its turn. */
  function pass(): void {
    holder = undefined;
    queue.first()?.wake();
  }

  /** Removes a request that should move, but gives no sign of life: a platform can end a request without notice. */
  function findVanished(own: Waiting): void {
    const next = holder ?? queue.first();
    if (!next || next === own || isComputing || ++next.missed < MAX_MISSED * queue.size) return;
    queue.remove(next);
    if (holder === next) pass();
  }

  async function claim(own: Waiting, { signal, giveUpAt }: EnterOptions): Promise<void> {
    for (;;) {
      own.missed = 0;
      signal?.throwIfAborted();
      if (giveUpAt !== undefined && now() > giveUpAt) throw tooLate();
      if (!queue.has(own)) throw lostPlace();
      if (!holder && queue.first() === own) {
        holder = own;
        if (!lastTurn) return;
        await letOthersRun();
        signal?.throwIfAborted();
        if (queue.first() === own) return;
        pass();
      }
      const look = sleep(LOOK_MS);
      const { promise, resolve } = Promise.withResolvers<void>();
      own.wake = resolve;
      await Promise.race([promise, look.done]);
      look.cancel();
      findVanished(own);
    }
  }

  async function take<T>(own: Waiting, options: EnterOptions, ms: number, work: () => Promise<T>) {
    const asked = now();
    let start = asked;
    try {
      await claim(own, options);
      start = now();
      if (handedOverAt !== undefined) speed.observeGap(start - handedOverAt);
      isComputing = true;
      return { result: await work(), waitedMs: start - asked };
    } finally {
      if (isComputing && holder === own) {
        isComputing = false;
        const end = now();
        queue.took(own, speed.predict(ms, 1).ms);
        speed.observe(ms, end - start);
        if (blocksThread) occupied(start, end - start || speed.predict(ms, 0).ms);
        handedOverAt = queue.size > 1 ? end : undefined;
      }
      if (holder === own) pass();
    }
  }

  return {
    speed,
    get size() {
      return queue.size;
    },
    outlook({ dueAt, compute }) {
      const job = { dueAt, leftMs: compute.ms };
      return { waitMs: queue.waitMs(job), delaysOthers: queue.delaysOthers(job, now()) };
    },
    async using({ dueAt, compute }, options, use) {
      const own: Waiting = { dueAt, leftMs: compute.ms, wake: () => {}, missed: 0 };
      let waitedMs = 0;
      queue.add(own);
      try {
        return await use({
          async turn(ms, work) {
            const taken = await take(own, options, ms, work);
            waitedMs += taken.waitedMs;
            return taken.result;
          },
          waitedMs: () => waitedMs,
        });
      } finally {
        queue.remove(own);
        if (!holder) pass();
      }
    },
    arrivedAfter: (at) => lastTurn?.start ?? at,
    busyMs: () => busyMs,
    lagMs: () => (queue.size > 0 ? callMs / 2 : 0),
    letLeave() {
      fetchSteps = FETCH_STEPS;
    },
    async settled() {
      if (lastTurn) await letOthersRun();
    },
  };
}

/** A timer that can be cancelled. */
function sleep(ms: number): { done: Promise<void>; cancel: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return { done: promise, cancel: () => clearTimeout(timer) };
}

const tooLate = (): BertEdgeError =>
  new BertEdgeError("budget_exceeded", "The latency budget was over before the answer could be computed.", {
    hint: "Give a larger budget, or none.",
  });

const lostPlace = (): BertEdgeError =>
  new BertEdgeError("overloaded", "The request lost its place in the queue.", { hint: "Send the request again." });
