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

/** The order in which requests use an engine. Times are in milliseconds. */
export interface WorkQueue<J extends Job> {
  readonly size: number;
  add(job: J): void;
  remove(job: J): void;
  /** Returns the job that has the next turn, of those that want one (default: all); undefined when there is none. */
  first(wants?: (job: J) => boolean): J | undefined;
  /** Records that a job had a turn, which was predicted to take `ms`. */
  took(job: J, ms: number): void;
  /** Predicts the time before the last turn of a new job begins, without the job's own work. */
  waitMs(job: Job): number;
  /** Whether a new job would make a waiting job late that would be in time without it. */
  delaysOthers(job: Job, now: number): boolean;
}

/**
 * Makes a queue with the earliest deadline first. Jobs without a deadline take turns with each other, so that a short one
 * does not wait for the end of a long one. They get `BACKGROUND_SHARE` of the time while jobs with a deadline wait, and
 * all of it otherwise.
 *
 * The earliest deadline first keeps all deadlines whenever any order could: C. L. Liu and J. W. Layland, "Scheduling
 * Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973.
 */
export function workQueue<J extends Job>(): WorkQueue<J> {
  /** Jobs with a deadline, the earliest first. */
  const due: J[] = [];
  /** Jobs without a deadline; the first one has waited longest since its last turn. */
  const background: J[] = [];
  /** Milliseconds that are owed to the background; negative when it had more than its share. */
  let owedMs = 0;

  const listOf = (job: Job) => (job.dueAt === undefined ? background : due);
  /** Time that passes while `ms` of work with a deadline is done. */
  const stretched = (ms: number) => (background.length === 0 ? ms : ms / (1 - BACKGROUND_SHARE));

  return {
    get size() {
      return due.length + background.length;
    },
    add(job) {
      const { dueAt } = job;
      const after = dueAt === undefined ? -1 : due.findIndex((other) => (other.dueAt as number) > dueAt);
      if (after < 0) listOf(job).push(job);
      else due.splice(after, 0, job);
    },
    remove(job) {
      const list = listOf(job);
      const at = list.indexOf(job);
      if (at >= 0) list.splice(at, 1);
    },
    first(wants = () => true) {
      const [urgent, patient] = [due.find(wants), background.find(wants)];
      return !urgent || (patient && owedMs > 0) ? patient : urgent;
    },
    took(job, ms) {
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
    waitMs({ dueAt, leftMs }) {
      if (dueAt !== undefined) {
        return stretched(sum(due, (other) => ((other.dueAt as number) <= dueAt ? other.leftMs : 0)));
      }
      // The jobs take turns, so each of the others advances as far as the new one.
      const others = sum(background, (other) => Math.min(other.leftMs, leftMs));
      const share = (others + leftMs) * (1 / BACKGROUND_SHARE - 1);
      return (
        others +
        Math.min(
          sum(due, (other) => other.leftMs),
          share,
        )
      );
    },
    delaysOthers({ dueAt, leftMs }, now) {
      if (dueAt === undefined) return false;
      let workMs = 0;
      for (const other of due) {
        workMs += other.leftMs;
        const spareMs = (other.dueAt as number) - now - stretched(workMs);
        if ((other.dueAt as number) > dueAt && spareMs >= 0 && spareMs < stretched(leftMs)) return true;
      }
      return false;
    },
  };
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
