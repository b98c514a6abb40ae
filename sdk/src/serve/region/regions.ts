import { BertEdgeError } from "../../artifact/error.ts";
import type { ExtraLoad } from "./extra-load.ts";
import { logFailure } from "./log-failure.ts";
import type { RegionTier } from "./region-tier.ts";

/**
 * Makes one tier of several regions. Each request goes to the usable region with the shortest predicted time. When that
 * region fails or is overloaded, the next one is asked, if it is expected to answer within the budget and `extra` allows it.
 *
 * @param extra counts the answers of the deployment
 */
export function regions(tiers: readonly RegionTier[], extra: ExtraLoad): RegionTier {
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
    async ask(query, expected, options = {}) {
      const [first, second] = usable(expected.computeMs, expected);
      if (!first) throw new BertEdgeError("region_failed", "No region is usable.", { hint: "Read the log above." });
      try {
        return await first.tier.ask(query, expected, options);
      } catch (error) {
        const remainingMs = query.deadline.remainingMs() ?? Number.POSITIVE_INFINITY;
        const isInTime = second !== undefined && second.predicted.ms <= remainingMs;
        if (!isInTime || options.hedge || !isOfTheRegion(error) || !extra.take()) throw error;
        logFailure(error, { trace: query.trace, next: "Another region is asked." });
        return second.tier.ask(query, expected, options);
      }
    },
  };
}

/** Whether another region may answer: the request is valid, and its caller is waiting. */
const isOfTheRegion = (error: unknown): error is BertEdgeError =>
  error instanceof BertEdgeError && (error.code === "region_failed" || error.code === "region_overloaded");
