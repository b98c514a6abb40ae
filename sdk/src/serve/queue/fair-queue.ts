import type { Caller } from "./caller.ts";
import { type Job, workQueue } from "./work-queue.ts";

/** Work of a caller. */
export interface CallersJob extends Job {
  readonly caller: Caller;
}

/** Jobs that wait for one engine. Times are in milliseconds. */
interface Queue<J extends CallersJob> {
  readonly size: number;
  add(job: J): void;
  /** Removes a job. Returns whether the job was in the queue. */
  remove(job: J): boolean;
  /** Whether a caller has jobs. */
  has(caller: Caller): boolean;
  /** Predicted milliseconds of all jobs. */
  leftMs(): number;
  /** Returns the job with the next turn, among the jobs for which `wants` is true (default: all); undefined if there is none. */
  first(wants?: (job: J) => boolean): J | undefined;
  /** Records that a job had a turn, which took `ms`. */
  took(job: J, ms: number): void;
  /**
   * Predicts the milliseconds before the last turn of a new job begins, without the job's own work.
   *
   * @param lastMs predicted milliseconds of this turn
   */
  waitMs(job: CallersJob, lastMs: number): number;
  /**
   * Whether a waiting job of the same caller would be in time without the new job, but late with it.
   *
   * @param lasting returns the time that `ms` of this queue's work take, with other queues' work in between. Default: `ms`
   */
  delaysOthers(job: CallersJob, now: number, lasting?: (ms: number) => number): boolean;
}

/** The jobs of one key, or of one caller of a key, in a shared queue. */
interface Flow<J extends CallersJob> {
  readonly jobs: Queue<J>;
  weight: number;
  /** Virtual time at which the flow's next turn starts. */
  startsAt: number;
}

/** Rules by which a queue is shared: name and weight of a caller's flow, and the inner queue that orders the jobs of a flow. */
interface Shares<J extends CallersJob> {
  nameOf(caller: Caller): string;
  weightOf(caller: Caller): number;
  inner(): Queue<J>;
}

/**
 * Shares a queue: each flow gets a part of the engine while it has jobs, in proportion to its weight, whatever others send.
 *
 * This is start-time fair queueing: a turn of `ms` advances its flow by `ms / weight` on a virtual clock, and the flow that is furthest
 * behind has the next turn. P. Goyal, H. M. Vin and H. Cheng, "Start-time Fair Queueing: A Scheduling Algorithm for Integrated Services
 * Packet Switching Networks", 1996. A new flow starts at the time of the clock, so that nobody saves up turns. The clock is the start of
 * the last turn, but advances at least by the work that each flow should have had in the turn, as in J. C. R. Bennett and H. Zhang,
 * "Hierarchical Packet Fair Queueing Algorithms", 1996. Otherwise it would stand still while every turn belongs to a new flow.
 */
function sharedQueue<J extends CallersJob>({ nameOf, weightOf, inner }: Shares<J>): Queue<J> {
  const flows = new Map<string, Flow<J>>();
  let virtualMs = 0;
  let size = 0;

  const flowOf = (caller: Caller) => flows.get(nameOf(caller));

  /** Predicts the milliseconds of work that other flows get while the flow of `caller` gets `ms`. */
  function othersMs(caller: Caller, ms: number): number {
    const own = flowOf(caller);
    if (flows.size === 0 || (flows.size === 1 && own)) return 0;
    const startsAt = own && own.jobs.size > 0 ? own.startsAt : Math.max(virtualMs, own?.startsAt ?? 0);
    const endsAt = startsAt + ms / weightOf(caller);
    let total = 0;
    for (const other of flows.values()) {
      if (other === own || other.jobs.size === 0 || other.startsAt >= endsAt) continue;
      total += Math.min(other.jobs.leftMs(), (endsAt - other.startsAt) * other.weight);
    }
    return total;
  }

  /** Advances the clock by a turn that started at `startsAt`. Forgets flows without jobs that are not ahead of the clock. */
  function advance(startsAt: number, ms: number): void {
    // Counts one more flow, with the weight 1: a flow that comes next has had no part of this turn.
    let weights = 1;
    for (const { jobs, weight } of flows.values()) if (jobs.size > 0) weights += weight;
    virtualMs = Math.max(virtualMs + ms / weights, startsAt);
    if (flows.size === 1) return;
    for (const [name, { jobs, startsAt }] of flows) if (jobs.size === 0 && startsAt <= virtualMs) flows.delete(name);
  }

  /** Resets the clock when no job is left. Keeps a flow that was alone, because it is likely to come again. */
  function restart(): void {
    if (flows.size > 1) flows.clear();
    for (const flow of flows.values()) flow.startsAt = 0;
    virtualMs = 0;
  }

  return {
    get size() {
      return size;
    },
    add(job) {
      const { caller } = job;
      const flow = flowOf(caller) ?? { jobs: inner(), weight: 0, startsAt: 0 };
      if (flow.jobs.size === 0) flow.startsAt = Math.max(virtualMs, flow.startsAt);
      flow.weight = weightOf(caller);
      flows.set(nameOf(caller), flow);
      flow.jobs.add(job);
      size++;
    },
    remove(job) {
      if (!flowOf(job.caller)?.jobs.remove(job)) return false;
      size--;
      if (size === 0) restart();
      return true;
    },
    has: (caller) => flowOf(caller)?.jobs.has(caller) ?? false,
    leftMs() {
      let total = 0;
      for (const { jobs } of flows.values()) total += jobs.leftMs();
      return total;
    },
    first(wants) {
      let [next, startsAt]: [J | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
      for (const flow of flows.values()) {
        if (flow.startsAt >= startsAt) continue;
        const job = flow.jobs.first(wants);
        if (job) [next, startsAt] = [job, flow.startsAt];
      }
      return next;
    },
    took(job, ms) {
      const flow = flowOf(job.caller);
      if (!flow) return;
      flow.jobs.took(job, ms);
      advance(flow.startsAt, ms);
      flow.startsAt += ms / flow.weight;
    },
    waitMs(job, lastMs) {
      const ownMs = flowOf(job.caller)?.jobs.waitMs(job, lastMs) ?? 0;
      return ownMs + othersMs(job.caller, ownMs + job.leftMs - lastMs);
    },
    delaysOthers(job, now, lasting = (ms) => ms) {
      const own = flowOf(job.caller)?.jobs;
      return own?.delaysOthers(job, now, (ms) => lasting(ms + othersMs(job.caller, ms))) ?? false;
    },
  };
}

/**
 * Lets keys take turns by their weights, and then the callers of each key. So a key gets no more of the engine if it has many callers.
 * The jobs of a caller have the order of `workQueue`.
 */
export const fairQueue = <J extends CallersJob>(): Queue<J> =>
  sharedQueue({
    nameOf: ({ key }) => key,
    weightOf: ({ weight }) => weight,
    inner: () => sharedQueue({ nameOf: ({ id }) => id, weightOf: () => 1, inner: workQueue<J> }),
  });
