import type { Reason } from "../contract/headers.ts";
import type { AnswerEstimate, Estimate } from "../queue/speed.ts";
import type { RefusalCode } from "../refusal.ts";

/** Deviations that a prediction needs between itself and the budget, to count as certain. */
export const CERTAIN = 3;

/**
 * Factor by which the region must be faster before it answers a request that this deployment could answer too. An answer of
 * this deployment has no extra cost, so only a queue here, not the network alone, justifies the region.
 */
const CLEARLY_FASTER = 1.2;

/**
 * CPU time of asking the region, in ms, measured in workerd. A queue of shorter computations would not become shorter if the region
 * answered some of them.
 */
const ASKING_MS = 0.8;

/** Shortest time after which a refused request should come again, in ms. Clients with a budget of retries would use it up. */
const MIN_RETRY_MS = 50;

/** Queue, computation and CPU limit of this deployment. Times are in milliseconds. */
export interface Here {
  /** Predicted time in the queue, before the last part of the work begins. */
  readonly waitMs: number;
  /** Predicted time of the computation, without the wait. */
  readonly compute: Estimate;
  /** Whether another request would become late if this one were computed here. */
  readonly delaysOthers: boolean;
  /** Whether an answer of the region, which is due meanwhile, could not be handled if this one were computed here. */
  readonly delaysFetches: boolean;
  /** Calls of the engine. Between calls, the deployment can stop the computation. */
  readonly calls: number;
  /**
   * CPU time of the computation, on the machine that measured the model. The time on this machine also grows when other
   * processes use the CPU, which the platform does not count.
   */
  readonly cpuMs: number;
  /** CPU time that the platform allows per request. */
  readonly cpuLimitMs: number;
}

/** Input of a decision. */
export interface Situation {
  /** Remaining budget of the caller in milliseconds; undefined without a budget. */
  readonly remainingMs: number | undefined;
  /** Largest error of the remaining budget: the time of arrival may be known only roughly. */
  readonly elapsedErrorMs: number;
  /** Time that computations of other requests have taken from the budget, at most. */
  readonly lostMs: number;
  /** How late an answer may be and still be of use. */
  readonly maxLateMs: number;
  /** Longest predicted wait of a request without a budget. */
  readonly maxWaitMs: number;
  /** The only tier that may answer: `here` is this deployment. Undefined if the caller accepts both. */
  readonly pin: "here" | "region" | undefined;
  /** `loading`: the model is not loaded yet. `unsuitable`: this deployment cannot give the precision that is asked for. */
  readonly here: Here | "loading" | "unsuitable";
  /** `down`: the region failed a short time ago. */
  readonly region: AnswerEstimate | "none" | "down";
}

export type Decision =
  | {
      readonly tier: "here" | "region";
      readonly reason: Reason;
      /** Predicted milliseconds until the answer; undefined while the model is loading. */
      readonly predictedMs: number | undefined;
      /** Whether the region is asked too, and the first answer counts. */
      readonly hedge: boolean;
    }
  | { readonly refusal: RefusalCode /** When a retry makes sense, in ms from now. */; readonly retryAfterMs?: number };

/**
 * Decides who answers a request, or that nobody does. This deployment is preferred when it is expected to answer within the
 * budget, because its answer has no extra cost and needs no network.
 */
export function decide(situation: Situation): Decision {
  const { remainingMs, elapsedErrorMs, lostMs, maxLateMs, maxWaitMs, pin, here, region } = situation;
  if (remainingMs !== undefined && remainingMs <= -maxLateMs) return { refusal: "budget_exceeded" };
  const usable = typeof region === "object" && pin !== "here" ? region : undefined;
  const alone = (reason: Reason): Reason => (pin ? "pinned" : region === "none" ? "only-tier" : reason);

  if (pin === "region") {
    if (usable) return ask(usable, "pinned");
    return { refusal: region === "none" ? "tier_missing" : "tier_unavailable" };
  }
  if (here === "unsuitable") {
    if (usable) return ask(usable, "precision");
    return { refusal: region === "down" && !pin ? "tier_unavailable" : "precision_unavailable" };
  }
  if (here === "loading") {
    if (usable) return ask(usable, "edge-cold");
    return { tier: "here", reason: alone("region-down"), predictedMs: undefined, hedge: false };
  }
  const { waitMs, compute, delaysOthers, delaysFetches, calls, cpuMs, cpuLimitMs } = here;
  const totalMs = waitMs + compute.ms;
  // The queue is computed by the same machine, so a prediction of the wait is as uncertain as one of the computation.
  const spreadMs = compute.ms > 0 ? compute.spreadMs * (totalMs / compute.ms) : 0;
  const answer = (reason: Reason, hedge = false): Decision => ({ tier: "here", reason, predictedMs: totalMs, hedge });

  if (cpuMs > cpuLimitMs) {
    if (usable) return ask(usable, "edge-cpu-limit");
    return region === "down" && !pin ? overloaded(MIN_RETRY_MS) : { refusal: "request_too_costly" };
  }
  const isRelieved = waitMs > 0 && compute.ms > ASKING_MS;
  const isBusy = isRelieved && usable !== undefined && totalMs > CLEARLY_FASTER * usable.ms;
  if (remainingMs === undefined) {
    if (isBusy) return ask(usable, "edge-busy");
    if (waitMs <= maxWaitMs) return answer(alone("no-budget"));
    return usable ? ask(usable, "edge-busy") : overloaded(waitMs - maxWaitMs);
  }
  const regionFits = usable !== undefined && usable.ms + CERTAIN * usable.spreadMs + elapsedErrorMs <= remainingMs;
  const latestMs = totalMs + CERTAIN * spreadMs + elapsedErrorMs;
  const makesLate = delaysOthers || delaysFetches;
  if (latestMs <= remainingMs && !makesLate) {
    return isBusy && regionFits ? ask(usable, "edge-busy") : answer(alone("within-budget"));
  }
  const mayFit = totalMs + elapsedErrorMs <= remainingMs && !makesLate;
  if (regionFits) {
    // An answer of the region is of no use while one call occupies the thread: it would be handled after the call.
    const canStop = waitMs > 0 || calls > 1;
    return mayFit && canStop ? answer("within-budget", true) : ask(usable, "edge-over-budget");
  }
  // A region without a queue is asked although it is uncertain: the deviation of its estimate shrinks only with its answers.
  const regionMayFit = usable !== undefined && usable.ms + (usable.waitMs > 0 ? usable.spreadMs : 0) <= remainingMs;
  if (mayFit && waitMs === 0) {
    const knownMs = remainingMs - elapsedErrorMs;
    const regionIsLikelier = regionMayFit && (knownMs - usable.ms) * spreadMs > (knownMs - totalMs) * usable.spreadMs;
    return regionIsLikelier ? ask(usable, "edge-over-budget") : answer(alone("within-budget"));
  }
  if (regionMayFit) return ask(usable, "edge-over-budget");
  const quietMs = remainingMs + lostMs;
  if (compute.ms > quietMs && (!usable || usable.ms - usable.waitMs > quietMs)) {
    // Nobody could answer in time, even without other requests. The caller gets the first answer that is possible, unless it would
    // wait longer for its turn than for the answer itself, or make an answer of the region late that is in time.
    if (usable && usable.ms < totalMs) {
      if (2 * usable.waitMs <= usable.ms) return ask(usable, "over-budget");
    } else if (waitMs <= compute.ms && !delaysFetches) {
      return answer(alone(region === "down" ? "region-down" : "over-budget"));
    }
  }
  return overloaded(Math.max(latestMs - remainingMs, compute.ms));
}

const ask = ({ ms }: Estimate, reason: Reason): Decision => ({
  tier: "region",
  reason,
  predictedMs: ms,
  hedge: false,
});

const overloaded = (ms: number): Decision => ({ refusal: "overloaded", retryAfterMs: Math.max(ms, MIN_RETRY_MS) });
