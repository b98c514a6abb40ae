import type { Estimate } from "../queue/speed.ts";

/** Minimum timeout of a fetch, in ms. Pauses of the scheduler or the garbage collector can take almost 100 ms. */
const MIN_PATIENCE_MS = 100;

/** Factor by which a working region can be slower than predicted. */
const SLOWER = 4;

/** Smallest budget that the region is sent, in ms. The header needs a positive number. */
const MIN_BUDGET_MS = 0.1;

/**
 * Timeout of a probe, in ms. A probe that is lost while the region is down must not delay the next one. A region that needs
 * longer for an empty answer is of no use.
 */
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Returns the timeout of a fetch in whole milliseconds, as Node requires: the remaining budget, but at least the time that
 * a working region can need. A shorter timeout would count a working region as failed.
 *
 * @param timeoutMs the longest timeout, unless the prediction is longer
 */
export function patienceMs(predicted: Estimate, remainingMs: number | undefined, timeoutMs: number): number {
  const slowMs = SLOWER * (predicted.ms + predicted.spreadMs);
  const longestMs = Math.max(timeoutMs, slowMs);
  return Math.ceil(Math.min(longestMs, Math.max(remainingMs ?? longestMs, slowMs, MIN_PATIENCE_MS)));
}

/**
 * Returns the budget for the region: the remaining budget without the time on the network, because the region's clock
 * starts when the request arrives there. A region that cannot keep it answers nevertheless when it has no queue.
 */
export const forwardedBudgetMs = (networkMs: number, remainingMs: number): number =>
  Math.max(remainingMs - networkMs, MIN_BUDGET_MS);
