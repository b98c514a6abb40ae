import { BertEdgeError } from "../../artifact/error.ts";
import { logFailure } from "./failure.ts";
import type { AskingThread } from "./probe.ts";
import type { ConnectableRegion, Region } from "./region.ts";
import type { RegionTier } from "./region-tier.ts";

/**
 * Makes one tier of several regions. Each request goes to the usable region with the shortest predicted time. When that
 * region fails or is overloaded, the next one is asked, if it is expected to answer within the budget and `retryBudget` allows it.
 */
export function regions(tiers: readonly RegionTier[], retryBudget: RetryBudget): RegionTier {
  /** Returns the usable regions, the fastest first. */
  const usable = (...question: Parameters<RegionTier["predict"]>) =>
    tiers
      .flatMap((tier) => {
        const predicted = tier.predict(...question);
        return predicted === "down" ? [] : [{ tier, predicted }];
      })
      .sort((a, b) => a.predicted.ms - b.predicted.ms);

  return {
    predict: (...question) => usable(...question)[0]?.predicted ?? "down",
    keepMeasured(background, maxAgeMs, model) {
      for (const tier of tiers) tier.keepMeasured(background, maxAgeMs, model);
    },
    async ask(query, expected, options) {
      const [first, second] = usable(expected.computeMs, expected);
      if (!first) throw new BertEdgeError("region_failed", "No region can answer now.", { hint: "The log says why." });
      try {
        return await first.tier.ask(query, expected, options);
      } catch (error) {
        const remainingMs = query.deadline.remainingMs() ?? Number.POSITIVE_INFINITY;
        const isInTime = second !== undefined && second.predicted.ms <= remainingMs;
        if (!isInTime || options?.hedge || !isOfTheRegion(error) || !retryBudget.take()) throw error;
        logFailure(error, { trace: query.trace, next: "Another region is asked." });
        return second.tier.ask(query, expected, options);
      }
    },
  };
}

/** Connects to the regions. Returns one tier that stands for all of them; undefined without a region. */
export function connectAll(
  all: readonly Region[],
  thread: AskingThread,
  retryBudget: RetryBudget,
): RegionTier | undefined {
  const [first, ...others] = all.map((region) => (region as unknown as ConnectableRegion).connect(thread));
  return first && others.length > 0 ? regions([first, ...others], retryBudget) : first;
}

/** Whether the region caused the error. Then another tier may answer: the request is valid, and its caller is waiting. */
export const isOfTheRegion = (error: unknown): error is BertEdgeError =>
  error instanceof BertEdgeError && (error.code === "region_failed" || error.code === "region_overloaded");

/** Extra requests (retries and hedges) per answer, and maximum number of extra requests in a burst. */
const SHARE = 1 / 20;
const BURST = 3;

/**
 * Makes a token bucket that limits retries and hedges to 5 % of the answers, apart from a short burst. Without a limit, they would
 * double the load of a region that fails because of its load. Every answer adds a part of a token, and every extra request takes a
 * whole token.
 */
export function newRetryBudget() {
  let tokens = BURST;
  return {
    /** Counts an answer to a caller, whichever tier gave it. */
    answered(): void {
      tokens = Math.min(BURST, tokens + SHARE);
    },
    /** Takes a token for one extra request. Returns false if no whole token is left. */
    take(): boolean {
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}

export type RetryBudget = ReturnType<typeof newRetryBudget>;
