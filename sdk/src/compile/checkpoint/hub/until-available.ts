import { setTimeout } from "node:timers/promises";
import { BertEdgeError } from "../../../artifact/error.ts";

/** Waits between attempts, in ms, if the server does not say how long to wait. */
const WAITS = [500, 1_000, 2_000, 4_000];

/** Longest wait that a server may ask for, in ms. After a longer one, the command fails with the time to wait. */
const LONGEST_WAIT = 60_000;

export interface RetryOptions {
  readonly signal?: AbortSignal | undefined;
  /** Waits before the next attempt. Default: a timer. */
  readonly wait?: ((ms: number, signal: AbortSignal | undefined) => Promise<unknown>) | undefined;
}

const sleep = (ms: number, signal: AbortSignal | undefined) => setTimeout(ms, undefined, signal ? { signal } : {});

/**
 * Runs `work` until it succeeds, and again after `hub_unavailable`: four times, or for as long as attempts make progress.
 *
 * @param progressed returns whether the last attempt made progress
 * @throws the last error of `work`
 */
export async function untilAvailable<T>(
  work: () => Promise<T>,
  { signal, wait = sleep }: RetryOptions,
  progressed: () => boolean = () => false,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BertEdgeError) || error.code !== "hub_unavailable") throw error;
      if (progressed()) failures = 0;
      const ms = error.retryAfterMs ?? WAITS[failures];
      if (ms === undefined || failures >= WAITS.length || ms > LONGEST_WAIT) throw error;
      await wait(ms, signal);
    }
  }
}
