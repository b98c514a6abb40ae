/**
 * Share of the time for requests without a deadline while requests with a deadline wait too. It keeps a large request
 * without a deadline moving, and costs requests with a deadline at most one turn in eight.
 */
export const BACKGROUND_SHARE = 1 / 8;

/** Work of a request that waits for the engine, or is in it. */
export interface Job {
  /** Time on the queue's clock at which the answer is due; undefined without a deadline. */
  readonly dueAt: number | undefined;
  /** Predicted milliseconds of the work that is left. */
  leftMs: number;
}

/**
 * Makes the order in which the requests of a caller use an engine: the earliest deadline first. Jobs without a deadline take turns with
 * each other, so that a short job does not wait for the end of a long one. They get `BACKGROUND_SHARE` of the time while jobs with a
 * deadline wait.
 *
 * The earliest deadline first keeps all deadlines whenever any order could: C. L. Liu and J. W. Layland, "Scheduling
 * Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973.
 */
export function workQueue<J extends Job>() {
  /** Jobs with a deadline, the earliest first. */
  const due: J[] = [];
  /** Jobs without a deadline; the first one has waited longest since its last turn. */
  const background: J[] = [];
  /** Milliseconds that are owed to the background; negative when it had more than its share. */
  let owedMs = 0;

  const listOf = (job: Job) => (job.dueAt === undefined ? background : due);
  /** Returns the time that `ms` of work with a deadline take, with the background's share in between. */
  const stretched = (ms: number) => (background.length === 0 ? ms : ms / (1 - BACKGROUND_SHARE));

  return {
    get size(): number {
      return due.length + background.length;
    },
    add(job: J): void {
      const { dueAt } = job;
      const after = dueAt === undefined ? -1 : due.findIndex((other) => (other.dueAt as number) > dueAt);
      if (after < 0) listOf(job).push(job);
      else due.splice(after, 0, job);
    },
    /** Removes a job. Returns whether the job was in the queue. */
    remove(job: J): boolean {
      const list = listOf(job);
      const at = list.indexOf(job);
      if (at >= 0) list.splice(at, 1);
      return at >= 0;
    },
    has: (): boolean => due.length + background.length > 0,
    /** Predicted milliseconds of all jobs. */
    leftMs: (): number => sum(due) + sum(background),
    /** Returns the job with the next turn, among the jobs for which `wants` is true (default: all); undefined if there is none. */
    first(wants: (job: J) => boolean = () => true): J | undefined {
      const [urgent, patient] = [due.find(wants), background.find(wants)];
      return !urgent || (patient && owedMs > 0) ? patient : urgent;
    },
    /** Records that a job had a turn, which took `ms`. */
    took(job: J, ms: number): void {
      job.leftMs = Math.max(0, job.leftMs - ms);
      if (job.dueAt !== undefined) {
        owedMs += (ms * BACKGROUND_SHARE) / (1 - BACKGROUND_SHARE);
        if (background.length === 0) owedMs = Math.min(owedMs, 0);
        return;
      }
      if (due.length > 0) owedMs -= ms;
      const at = background.indexOf(job);
      if (at >= 0) background.push(...background.splice(at, 1));
    },
    /** Predicts the milliseconds before the last turn of a new job begins, without the job's own work. */
    waitMs({ dueAt, leftMs }: Job): number {
      if (dueAt !== undefined) {
        return stretched(sum(due.filter((other) => (other.dueAt as number) <= dueAt)));
      }
      // The jobs take turns, so each of the others advances as far as the new one.
      const others = sum(background, leftMs);
      const share = (others + leftMs) * (1 / BACKGROUND_SHARE - 1);
      return others + Math.min(sum(due), share);
    },
    /**
     * Whether a waiting job would be in time without the new job, but late with it.
     *
     * @param lasting returns the time that `ms` of this queue's work take, with other queues' work in between. Default: `ms`
     */
    delaysOthers({ dueAt, leftMs }: Job, now: number, lasting = (ms: number) => ms): boolean {
      if (dueAt === undefined) return false;
      let workMs = 0;
      for (const other of due) {
        workMs += other.leftMs;
        const lateMs = (ms: number) => now + lasting(stretched(ms)) - (other.dueAt as number);
        if ((other.dueAt as number) > dueAt && lateMs(workMs) <= 0 && lateMs(workMs + leftMs) > 0) return true;
      }
      return false;
    },
  };
}

/** Adds up the milliseconds that jobs have left, at most `mostMs` of each job. */
const sum = (jobs: readonly Job[], mostMs = Number.POSITIVE_INFINITY): number =>
  jobs.reduce((total, { leftMs }) => total + Math.min(leftMs, mostMs), 0);
