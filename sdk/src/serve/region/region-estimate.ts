import { ewma, exactly, type Interval } from "../ewma.ts";
import { type AnswerEstimate, CALL_MS, type Estimate } from "../queue/speed.ts";
import type { RegionReport } from "./dialects/dialect.ts";

/** Weight of a network time below the mean: large, so that a few probes lower the estimate after a slow cold start. */
const RECOVERY_GAIN = 1 / 2;

/** Relative mean deviation of the slowdown while no recent computation of the region was measured. */
const SLOWDOWN_DEVIATION = 1 / 4;

/** Time in ms after which servers close an unused connection: https://nodejs.org/api/http.html#serverkeepalivetimeout */
const UNUSED_MS = 5_000;

/** Time in ms without a computation, after which the next one may take longer: a platform can stop a region that is not used. */
const IDLE_MS = 30_000;

/** Longest reported wait that is believed, in ms. A wrong report must not exclude a region for hours. */
const MAX_WAIT_MS = 60_000;

/** A fetch, as the edge measured it, with what the region reported about it. Times are in milliseconds. */
export interface MeasuredFetch extends Partial<Pick<RegionReport, "totalMs" | "computedMs" | "waitMs">> {
  /** Times on the edge's clock when the request was sent, and when the edge handled the end of the answer. */
  readonly start: number;
  readonly end: number;
  /** Predicted computation time; 0 if the region did not compute. */
  readonly computeMs: number;
  /** Time between `start` and `end` for which the edge was busy, and could neither send nor receive. */
  readonly busyMs: number;
}

/**
 * Estimates the time of a region's answer: `network + wait + slowdown · computation`.
 *
 * - The network time is what a fetch took beyond the region's own time. An edge that is busy sends and receives late, so
 *   it knows this time only within an interval.
 * - A fetch that may have to open a connection takes longer. The extra time is estimated separately.
 * - The wait is the longer of two times: the wait that the region last reported, less the time since then, and the computation
 *   of the requests that it has not answered yet. A request that takes turns with others counts at most as much as the new request
 *   and one call. Otherwise a few large requests would make the region seem busy for all.
 * - The slowdown is the reported computation time divided by the predicted time. It is needed because the model was
 *   measured on another machine. The first computation after a pause cannot raise it: the region may have to load
 *   something. If a region reports no times, probes measure the network time, and the rest of an answer's time counts as
 *   computation, even if it was spent in the queue.
 */
export function regionEstimate({ priorMs, now }: { priorMs: number; now: () => number }) {
  const network = ewma({ prior: priorMs, fallGain: RECOVERY_GAIN });
  const connecting = ewma({ prior: 0, fallGain: RECOVERY_GAIN });
  const slowdown = ewma({ prior: 1, deviation: SLOWDOWN_DEVIATION, now });
  /** End of the last fetch that computed. */
  let computedAt = Number.NEGATIVE_INFINITY;
  /** End of the last fetch, and of the last one that may have opened a connection. */
  let [usedAt, openedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let freeAt = Number.NEGATIVE_INFINITY;
  /** Requests without an answer yet. */
  const inFlight = new Set<{ readonly computeMs: number; readonly takesTurns: boolean }>();

  /**
   * Returns the estimated time to connect; undefined if a fetch sent at this time finds an open connection. It may find none if
   * no connection was used lately, or if a connection is still being opened.
   */
  const connectingAt = (at: number) => (at - usedAt > UNUSED_MS || at < openedAt ? connecting : undefined);

  const networkMs = () => network.mean + (connectingAt(now())?.mean ?? 0);

  /** Learns from the time that a fetch spent on the network. */
  function observeNetwork({ start, end }: MeasuredFetch, { from, to }: Interval): void {
    const opened = connectingAt(start);
    const before = network.mean;
    network.observe({ from: opened ? 0 : from, to });
    if (opened) openedAt = Math.max(openedAt, end);
    opened?.observe({ from: Math.max(0, from - before), to: Math.max(0, to - before) });
    usedAt = end;
  }

  /** Learns from the time of a computation, relative to its prediction. */
  function observeComputation({ from, to }: Interval, end: number): void {
    const isFirst = end - computedAt > IDLE_MS;
    slowdown.observe({ from: isFirst ? Math.min(slowdown.mean, from) : from, to });
    computedAt = end;
  }

  return {
    /** Predicts the time until the region's answer to a request with the predicted computation time `computeMs`. */
    predict(computeMs: number): AnswerEstimate {
      let othersMs = 0;
      for (const other of inFlight) {
        othersMs += other.takesTurns ? Math.min(other.computeMs, computeMs + CALL_MS) : other.computeMs;
      }
      const waitMs = Math.max(slowdown.mean * othersMs, freeAt - now(), 0);
      const networkSpreadMs = network.deviation + (connectingAt(now())?.deviation ?? 0);
      return {
        ms: networkMs() + waitMs + slowdown.mean * computeMs,
        waitMs,
        spreadMs: networkSpreadMs + slowdown.deviation * (othersMs + computeMs),
      };
    },
    /**
     * Counts a request as unanswered until the returned function is called. Its computation delays later requests, which no
     * report shows yet.
     *
     * @param takesTurns whether the region computes parts of other requests in between, as bert-edge does for requests without a budget
     */
    sent(computeMs: number, takesTurns: boolean): () => void {
      const request = { computeMs, takesTurns };
      inFlight.add(request);
      return () => void inFlight.delete(request);
    },
    /** Returns the estimated time on the network, there and back, in milliseconds. */
    networkMs,
    /** Learns from a fetch. Without a report, the time beyond the network time counts as computation. */
    observe(fetch: MeasuredFetch): void {
      const { start, end, computeMs, busyMs, totalMs, computedMs = 0, waitMs = 0 } = fetch;
      const isReported = totalMs !== undefined || computeMs === 0;
      const outsideMs = Math.max(0, end - start - (totalMs ?? 0));
      const connectMs = connectingAt(start)?.mean ?? 0;
      observeNetwork(fetch, { from: isReported ? Math.max(0, outsideMs - busyMs) : 0, to: outsideMs });
      if (isReported) {
        freeAt = end + Math.min(waitMs, MAX_WAIT_MS);
        if (computeMs > 0 && computedMs > 0) observeComputation(exactly(computedMs / computeMs), end);
      } else {
        const restMs = Math.max(0, outsideMs - network.mean - connectMs);
        observeComputation({ from: Math.max(0, restMs - busyMs) / computeMs, to: restMs / computeMs }, end);
      }
    },
    /** Records a refusal after `tookMs`: the network took no longer than this, and new requests wait for `waitMs`. */
    refused(tookMs: number, waitMs: number): void {
      usedAt = now();
      if (tookMs > 0) network.observe({ from: 0, to: tookMs });
      freeAt = Math.max(freeAt, now() + Math.min(waitMs, MAX_WAIT_MS));
    },
  };
}

/** Minimum timeout of a fetch, in ms. Pauses of the scheduler or the garbage collector can take almost 100 ms. */
const MIN_PATIENCE_MS = 100;

/** Factor by which a working region can be slower than predicted. */
const SLOWER = 4;

/** Smallest budget that is sent to the region, in ms. The header needs a positive number. */
const MIN_BUDGET_MS = 0.1;

/**
 * Returns the timeout of a fetch in whole milliseconds, as Node requires: the remaining budget up to `timeoutMs`, but at least
 * the time that a working region can need.
 */
export function patienceMs(predicted: Estimate, remainingMs: number | undefined, timeoutMs: number): number {
  const slowMs = SLOWER * (predicted.ms + predicted.spreadMs);
  const longestMs = Math.max(timeoutMs, slowMs);
  return Math.ceil(Math.min(longestMs, Math.max(remainingMs ?? longestMs, slowMs, MIN_PATIENCE_MS)));
}

/** Returns the budget for the region, whose clock starts when the request arrives there. */
export const forwardedBudgetMs = (networkMs: number, remainingMs: number): number =>
  Math.max(remainingMs - networkMs, MIN_BUDGET_MS);
