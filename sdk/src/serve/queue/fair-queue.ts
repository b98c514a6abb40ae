import type { Caller } from "./caller.ts";
import { type Job, workQueue } from "./work-queue.ts";

/** Work of a caller. */
export interface CallersJob extends Job {
  readonly caller: Caller;
}

/** The jobs of a caller. */
interface Flow<J extends Job> {
  readonly caller: Caller;
  readonly jobs: ReturnType<typeof workQueue<J>>;
  /** Virtual time at which its next turn starts. */
  startsAt: number;
}

/**
 * Lets callers take turns: each gets a share of the engine while it has jobs, whatever others send. Its own jobs have the order of
 * `workQueue`. A share is the weight of the caller's key, divided by the callers with this key that have jobs.
 *
 * This is start-time fair queueing: a turn of `ms` advances its caller by `ms / share` on a virtual clock, and the caller who is furthest
 * behind has the next turn. A caller who comes starts at the time of the last turn, so that nobody saves up turns. P. Goyal, H. M. Vin and
 * H. Cheng, "Start-time Fair Queueing: A Scheduling Algorithm for Integrated Services Packet Switching Networks", 1996.
 */
export function fairQueue<J extends CallersJob>() {
  const flows = new Map<string, Flow<J>>();
  /** Virtual time at which the last turn started. */
  let virtualMs = 0;
  let size = 0;

  const startOf = (flow: Flow<J> | undefined): number =>
    flow && flow.jobs.size > 0 ? flow.startsAt : Math.max(virtualMs, flow?.startsAt ?? 0);

  /** Returns the share of a caller, who counts as one that has jobs. */
  function shareOf({ id, key, weight }: Caller): number {
    let active = 1;
    for (const { caller, jobs } of flows.values()) {
      if (caller.key === key && caller.id !== id && jobs.size > 0) active++;
    }
    return weight / active;
  }

  /** Predicts the milliseconds that other callers have while this one has `ms`. */
  function othersMs(caller: Caller, ms: number): number {
    if (flows.size < 2 && flows.has(caller.id)) return 0;
    const endsAt = startOf(flows.get(caller.id)) + ms / shareOf(caller);
    let total = 0;
    for (const { caller: other, jobs, startsAt } of flows.values()) {
      if (other.id === caller.id || jobs.size === 0 || startsAt >= endsAt) continue;
      total += Math.min(jobs.leftMs(), (endsAt - startsAt) * shareOf(other));
    }
    return total;
  }

  function forgetIdle(): void {
    for (const [id, { jobs, startsAt }] of flows) if (jobs.size === 0 && startsAt <= virtualMs) flows.delete(id);
  }

  return {
    get size(): number {
      return size;
    },
    /** Returns the callers who have jobs. */
    callers: (): Caller[] => [...flows.values()].flatMap(({ caller, jobs }) => (jobs.size > 0 ? caller : [])),
    /** Whether a caller has jobs. */
    has: ({ id }: Caller): boolean => (flows.get(id)?.jobs.size ?? 0) > 0,
    add(job: J): void {
      const { caller } = job;
      const flow = flows.get(caller.id) ?? { caller, jobs: workQueue<J>(), startsAt: 0 };
      flow.startsAt = startOf(flow);
      flows.set(caller.id, flow);
      flow.jobs.add(job);
      size++;
    },
    remove(job: J): void {
      if (!flows.get(job.caller.id)?.jobs.remove(job)) return;
      size--;
      if (size > 0) return;
      flows.clear();
      virtualMs = 0;
    },
    /** Returns the job that has the next turn, of those that want one (default: all); undefined when there is none. */
    first(wants?: (job: J) => boolean): J | undefined {
      let [next, startsAt]: [J | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
      for (const flow of flows.values()) {
        if (flow.startsAt >= startsAt) continue;
        const job = flow.jobs.first(wants);
        if (job) [next, startsAt] = [job, flow.startsAt];
      }
      return next;
    },
    /** Records that a job had a turn, which was predicted to take `ms`. */
    took(job: J, ms: number): void {
      const flow = flows.get(job.caller.id);
      if (!flow) return;
      flow.jobs.took(job, ms);
      virtualMs = Math.max(virtualMs, flow.startsAt);
      flow.startsAt += ms / shareOf(flow.caller);
      if (flows.size > 1) forgetIdle();
    },
    /**
     * Predicts the milliseconds before the last turn of a new job begins, without the job's own work.
     *
     * @param lastMs predicted milliseconds of this turn
     */
    waitMs(job: CallersJob, lastMs: number): number {
      const ownMs = flows.get(job.caller.id)?.jobs.waitMs(job) ?? 0;
      return ownMs + othersMs(job.caller, ownMs + job.leftMs - lastMs);
    },
    /** Whether a new job would make a waiting job of the same caller late that would be in time without it. */
    delaysOthers(job: CallersJob, now: number): boolean {
      const { caller } = job;
      const own = flows.get(caller.id)?.jobs;
      return own?.delaysOthers(job, now, (ms) => ms + othersMs(caller, ms)) ?? false;
    },
  };
}
