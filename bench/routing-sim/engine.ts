import { machineSpeed } from "#sdk/serve/queue/speed.ts";
import { type Job, workQueue } from "#sdk/serve/queue/work-queue.ts";
import { maxLateMs } from "#sdk/serve/routing/deadline.ts";
import { coldFactor } from "#test/fixtures/cold-engine.ts";
import type { Clock } from "./clock.ts";

/** The work of a request in an engine. Times are in milliseconds. */
export interface Work extends Job {
  /** Predicted time on the machine that measured the model. */
  readonly measuredMs: number;
  /** Time that the work really takes on this machine when the engine is warm. */
  readonly tookMs: number;
  /** Time after which the answer is of no use; undefined without a limit. */
  readonly giveUpAt: number | undefined;
}

/** Returns the time after which work with a deadline is given up, as in `task-service.ts`. */
export const giveUpAt = (dueAt: number | undefined, budgetMs: number): number | undefined =>
  dueAt === undefined ? undefined : dueAt + maxLateMs(budgetMs);

export interface SimulatedEngineOptions<W extends Work> {
  clock: Clock;
  /** Whether the first calls take longer than later ones. */
  compilesAsItRuns: boolean;
  /** Time between a turn and the next one, in which other events of the thread are handled. */
  gapMs: number;
  /** Called at the end of a turn. */
  done(work: W): void;
  /** Called instead of a turn when the answer would be of no use any more. */
  gaveUp(work: W): void;
}

/** Computes one work after another, in the order of the production queue, and teaches the production speed. */
export function simulatedEngine<W extends Work>({
  clock,
  compilesAsItRuns,
  gapMs,
  done,
  gaveUp,
}: SimulatedEngineOptions<W>) {
  const queue = workQueue<W>();
  const speed = machineSpeed({ compilesAsItRuns, now: clock.now });
  let running: W | undefined;
  let isClaimed = false;
  let startedAt = 0;
  /** Work that was done before, and the time that the running one takes. */
  let [doneMs, tookMs] = [0, 0];
  let endedAt = Number.NEGATIVE_INFINITY;
  let busyMs = 0;

  function next(): W | undefined {
    for (;;) {
      const work = queue.first();
      if (work?.giveUpAt === undefined || clock.now() <= work.giveUpAt) return work;
      queue.remove(work);
      gaveUp(work);
    }
  }

  function start(): void {
    running = next();
    isClaimed = running !== undefined;
    if (!running) return;
    startedAt = clock.now();
    tookMs = running.tookMs * (compilesAsItRuns ? coldFactor(doneMs) : 1);
    clock.after(tookMs, end);
  }

  function end(): void {
    const work = running as W;
    running = undefined;
    queue.took(work, speed.predict(work.measuredMs, 1).ms);
    queue.remove(work);
    speed.observe(work.measuredMs, tookMs);
    doneMs += work.measuredMs;
    busyMs += tookMs;
    done(work);
    endedAt = clock.now();
    isClaimed = queue.size > 0;
    if (!isClaimed) return;
    speed.observeGap(gapMs);
    clock.after(gapMs, start);
  }

  return {
    queue,
    speed,
    isComputing: () => running !== undefined,
    /** Start of the current or last turn. */
    startedAt: () => startedAt,
    /** Milliseconds of all turns so far. */
    busyMs: () => busyMs,
    /** @param delayMs time before an idle engine starts: a hedged request lets its fetch leave first */
    add(work: W, delayMs = 0): void {
      queue.add(work);
      if (isClaimed) return;
      isClaimed = true;
      const waitMs = Math.max(delayMs, endedAt + gapMs - clock.now());
      if (waitMs > 0) clock.after(waitMs, start);
      else start();
    },
    /** Takes work out of the queue that nobody needs any more. Work that has begun runs to its end. */
    cancel(work: W): void {
      if (work !== running) queue.remove(work);
    },
    /** Predicts the wait for a new request, as `x-bert-edge-queue-ms` reports it. */
    waitMs: () => queue.waitMs({ dueAt: undefined, leftMs: Number.POSITIVE_INFINITY }),
  };
}
