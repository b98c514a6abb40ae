import type { AnswerEstimate } from "#sdk/serve/queue/speed.ts";
import { breaker as newBreaker } from "#sdk/serve/region/breaker.ts";
import { PROBE_TIMEOUT_MS } from "#sdk/serve/region/probe.ts";
import { forwardedBudgetMs, patienceMs, regionEstimate } from "#sdk/serve/region/region-estimate.ts";
import type { Clock } from "./clock.ts";
import type { Call, Reply, SimulatedRegion } from "./region.ts";
import type { Request } from "./request.ts";

/** Options of `regionTier` in `region-tier.ts`, with their defaults. Times are in milliseconds. */
const PRIOR_MS = 50;
const TIMEOUT_MS = 10_000;
const PROBE_MS = 30_000;
/** The same limit as in `probe.ts`. */
const TIMER_TOLERANCE_MS = 2;
/** Time to open a connection, and the time without a request after which a region closes it. */
const [CONNECT_MS, UNUSED_MS] = [80, 5_000];

export interface RegionLinkOptions {
  clock: Clock;
  region: SimulatedRegion;
  roundTripMs: number;
  /** Runs a function when the isolate's thread is free. */
  whenFree: (run: () => void) => void;
  /** Milliseconds for which computations have occupied the isolate so far. */
  busyMs: () => number;
}

/** When a request was sent, and how long computations had occupied the isolate before. */
interface Sent {
  readonly start: number;
  readonly busyBefore: number;
}

/** `discarded`: the region computed an answer after the fetch was aborted. */
export type FetchResult = "answered" | "discarded" | "overloaded" | "failed";

/** The region as an isolate sees it: what `region-tier.ts` and `probe.ts` do, with the production estimate and breaker. */
export function regionLink({ clock, region, roundTripMs, whenFree, busyMs }: RegionLinkOptions) {
  const { now } = clock;
  const estimate = regionEstimate({ priorMs: PRIOR_MS, now });
  const breaker = newBreaker(now);
  let measuredAt = Number.NEGATIVE_INFINITY;
  /** Time of the last use of a connection. */
  let usedAt = Number.NEGATIVE_INFINITY;
  let probing = false;

  /** Counts a failure, unless the isolate was so busy that the region may have answered in time. */
  function countFailure({ start, busyBefore }: Sent, patience: number): void {
    const tookMs = now() - start;
    const waitedMs = tookMs - (busyMs() - busyBefore);
    if (waitedMs >= Math.min(patience, tookMs) - TIMER_TOLERANCE_MS) breaker.failed(start);
  }

  function learn(reply: Extract<Reply, { kind: "answer" }>, { start, busyBefore }: Sent, computeMs: number): void {
    const { totalMs, computedMs, waitMs } = reply;
    measuredAt = now();
    estimate.observe({
      ...{ start, end: measuredAt, busyMs: busyMs() - busyBefore },
      ...{ computeMs, totalMs, computedMs, waitMs },
    });
  }

  /**
   * Makes a call that starts now.
   *
   * @param ended handles the reply, or `undefined` when the isolate has lost its patience
   */
  function newCall(
    sent: Pick<Call, "tokens" | "noise" | "budgetMs">,
    oneWayMs: number,
    patience: number,
    ended: (reply: Reply | undefined) => void,
  ): Call {
    const start = now();
    const endAt = (at: number, reply?: Reply) => clock.at(Math.max(at, now()), () => whenFree(() => ended(reply)));
    return {
      tokens: sent.tokens,
      noise: sent.noise,
      budgetMs: sent.budgetMs,
      cancelled: false,
      cancel: undefined,
      reply(reply) {
        const at = now() + oneWayMs;
        if (at <= start + patience) endAt(at, reply);
        else endAt(start + patience);
      },
      lost: () => endAt(start + patience),
    };
  }

  /** Returns the time that a fetch which starts now needs before its request leaves. */
  function connectMs(): number {
    const unusedMs = now() - usedAt;
    usedAt = now();
    return unusedMs > UNUSED_MS ? CONNECT_MS : 0;
  }

  function probe(): void {
    const sent = { start: now(), busyBefore: busyMs() };
    probing = true;
    const call = newCall(
      { tokens: 0, noise: 1, budgetMs: PROBE_TIMEOUT_MS },
      roundTripMs / 2,
      PROBE_TIMEOUT_MS,
      (reply) => {
        probing = false;
        if (reply?.kind !== "answer") return countFailure(sent, PROBE_TIMEOUT_MS);
        learn(reply, sent, 0);
        breaker.probed();
      },
    );
    clock.after(connectMs() + roundTripMs / 2, () => region.probe(call));
  }

  return {
    predict: (computeMs: number): AnswerEstimate | "down" =>
      breaker.state() === "closed" ? estimate.predict(computeMs) : "down",
    keepMeasured(): void {
      if (probing || breaker.state() === "open") return;
      if (!breaker.wantsProbe() && now() - measuredAt < PROBE_MS) return;
      measuredAt = now();
      probe();
    },
    /**
     * Sends a request.
     *
     * @param computeMs predicted milliseconds of the region's computation
     * @returns a function that tells the region that nobody waits any more
     */
    send(request: Request, remainingMs: number, computeMs: number, ended: (result: FetchResult) => void): () => void {
      const sent = { start: now(), busyBefore: busyMs() };
      const oneWayMs = (roundTripMs / 2) * request.jitter;
      const predicted = estimate.predict(computeMs);
      const patience = patienceMs(predicted, remainingMs, TIMEOUT_MS);
      const settled = estimate.sent(computeMs, false);
      const call = newCall(
        {
          tokens: request.tokens,
          noise: request.regionNoise,
          budgetMs: forwardedBudgetMs(estimate.networkMs(), remainingMs),
        },
        oneWayMs,
        patience,
        (reply) => {
          // Nothing is concluded from a fetch that was aborted.
          if (call.cancelled) {
            if (reply?.kind === "answer") ended("discarded");
            return;
          }
          settled();
          if (!reply) {
            countFailure(sent, patience);
            return ended("failed");
          }
          breaker.answered();
          if (reply.kind === "refusal") {
            estimate.refused(now() - sent.start, reply.waitMs);
            return ended("overloaded");
          }
          learn(reply, sent, computeMs);
          ended("answered");
        },
      );
      clock.after(connectMs() + oneWayMs, () => region.receive(call));
      return () => {
        call.cancelled = true;
        settled();
        clock.after(oneWayMs, () => call.cancel?.());
      };
    },
  };
}

export type RegionLink = ReturnType<typeof regionLink>;
