import type { AnswerEstimate } from "../queue/speed.ts";
import { exactly, type Interval, smoothed } from "../smoothed.ts";

/**
 * Weight of a network time below the mean. The weight is large, so that a few probes lower the estimate again after a
 * slow cold start.
 */
const RECOVERY_GAIN = 1 / 2;

/** Mean deviation of the slowdown of a region whose computation was not measured a short time ago. */
const SLOWDOWN_DEVIATION = 1 / 4;

/**
 * Time in ms after which a fetch may need a new connection: servers close those that are not used. Node waits 5 s:
 * https://nodejs.org/api/http.html#serverkeepalivetimeout
 */
const UNUSED_MS = 5_000;

/** Time in ms without a computation, after which the next one may take longer: a platform can stop a region that is not used. */
const IDLE_MS = 30_000;

/** Longest wait that a region is believed to have, in ms. A wrong report must not exclude a region for hours. */
const MAX_WAIT_MS = 60_000;

/** A fetch, as the edge measured it. Times are in milliseconds. */
export interface UnreportedFetch {
  /** Times on the edge's clock when the request was sent, and when the edge handled the end of the answer. */
  readonly start: number;
  readonly end: number;
  /** Predicted computation time; 0 if the region did not compute. */
  readonly computeMs: number;
  /** Time between `start` and `end` for which the edge was busy, and could neither send nor receive. */
  readonly busyMs: number;
}

/** A fetch, with what the region reported about it. Times are in milliseconds. */
export interface MeasuredFetch extends UnreportedFetch {
  /** Time in the region, from the request's arrival to the answer; 0 if the region reported none. */
  readonly totalMs: number;
  /** Computation time in the region; 0 if the region did not compute, or reported none. */
  readonly computedMs: number;
  /** Wait of a new request in the region's queue, as of this answer. */
  readonly waitMs: number;
}

export interface RegionEstimate {
  /**
   * Predicts the time until the region's answer, and its mean deviation, in milliseconds.
   *
   * @param computeMs predicted milliseconds of the region's computation
   */
  predict(computeMs: number): AnswerEstimate;
  /**
   * Counts a request that is sent, until the returned function is called. Its computation delays later requests, and the
   * region reports this only with its next answer.
   */
  sent(computeMs: number): () => void;
  /** Estimated time on the network, there and back, in milliseconds. */
  networkMs(): number;
  observe(fetch: MeasuredFetch): void;
  /** Learns from a fetch about which the region reported nothing. */
  observeUnreported(fetch: UnreportedFetch): void;
  /**
   * Records a refusal.
   *
   * @param tookMs milliseconds until the refusal. The network is not slower.
   * @param waitMs milliseconds for which the region has no time for new requests
   */
  refused(tookMs: number, waitMs: number): void;
}

export interface RegionEstimateOptions {
  /** Network time to predict before the first measurement, in ms. */
  priorMs: number;
  now: () => number;
}

/**
 * Estimates the time of a region's answer: `network + wait + slowdown · computation`.
 *
 * - The network time is what a fetch took beyond the region's own time. An edge that is busy sends and receives late, so
 *   it knows this time only within an interval.
 * - A fetch that may have to open a connection takes longer. What it takes longer is estimated apart.
 * - The wait is what the region last reported, which passes with time, or the computation of the requests that it has not
 *   answered yet, if this is longer.
 * - The slowdown is the reported computation time divided by the predicted time. It is needed because the model was
 *   measured on another machine. The first computation after some time does not tell that a region is slow: it may have to
 *   load something. If a region reports no times, its queue counts as computation: probes tell the network
 *   time, and the rest of an answer is both.
 */
export function regionEstimate({ priorMs, now }: RegionEstimateOptions): RegionEstimate {
  const network = smoothed({ prior: priorMs, fallGain: RECOVERY_GAIN });
  const connecting = smoothed({ prior: 0, fallGain: RECOVERY_GAIN });
  const slowdown = smoothed({ prior: 1, deviation: SLOWDOWN_DEVIATION, now });
  /** End of the last fetch that computed. */
  let computedAt = Number.NEGATIVE_INFINITY;
  /** End of the last fetch, and of the last one that may have opened a connection. */
  let [usedAt, openedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let freeAt = Number.NEGATIVE_INFINITY;
  /** Predicted computation of requests without an answer yet. */
  let inFlightMs = 0;

  /** Whether a fetch that is sent at a time may have to open a connection: none was used lately, or one is being opened. */
  const mayConnect = (at: number) => at - usedAt > UNUSED_MS || at < openedAt;

  const networkMs = () => network.mean + (mayConnect(now()) ? connecting.mean : 0);

  /** Learns from the time that a fetch spent on the network. */
  function observeNetwork({ start, end }: Pick<UnreportedFetch, "start" | "end">, { from, to }: Interval): void {
    if (mayConnect(start)) {
      openedAt = Math.max(openedAt, end);
      const before = network.mean;
      network.observe({ from: 0, to });
      connecting.observe({ from: Math.max(0, from - before), to: Math.max(0, to - before) });
    } else network.observe({ from, to });
    usedAt = end;
  }

  /** Learns from the time of a computation, relative to its prediction. */
  function observeComputation({ from, to }: Interval, end: number): void {
    const isFirst = end - computedAt > IDLE_MS;
    slowdown.observe({ from: isFirst ? Math.min(slowdown.mean, from) : from, to });
    computedAt = end;
  }

  function observe(fetch: MeasuredFetch): void {
    const { start, end, totalMs, computedMs, computeMs, waitMs, busyMs } = fetch;
    const longestMs = end - start - totalMs;
    observeNetwork(fetch, { from: Math.max(0, longestMs - busyMs), to: Math.max(0, longestMs) });
    freeAt = end + Math.min(waitMs, MAX_WAIT_MS);
    if (computeMs > 0 && computedMs > 0) observeComputation(exactly(computedMs / computeMs), end);
  }

  return {
    predict(computeMs) {
      const waitMs = Math.max(slowdown.mean * inFlightMs, freeAt - now(), 0);
      return {
        ms: networkMs() + waitMs + slowdown.mean * computeMs,
        waitMs,
        spreadMs:
          network.deviation +
          (mayConnect(now()) ? connecting.deviation : 0) +
          slowdown.deviation * (inFlightMs + computeMs),
      };
    },
    sent(computeMs) {
      inFlightMs += computeMs;
      return () => {
        inFlightMs -= computeMs;
      };
    },
    networkMs,
    observe,
    observeUnreported(fetch) {
      const { start, end, computeMs, busyMs } = fetch;
      if (computeMs === 0) {
        observe({ ...fetch, totalMs: 0, computedMs: 0, waitMs: 0 });
        return;
      }
      const tookMs = end - start;
      const connectMs = mayConnect(start) ? connecting.mean : 0;
      observeNetwork(fetch, { from: 0, to: tookMs });
      const restMs = tookMs - network.mean - connectMs;
      observeComputation({ from: Math.max(0, restMs - busyMs) / computeMs, to: Math.max(0, restMs) / computeMs }, end);
    },
    refused(tookMs, waitMs) {
      usedAt = now();
      if (tookMs > 0) network.observe({ from: 0, to: tookMs });
      freeAt = Math.max(freeAt, now() + Math.min(waitMs, MAX_WAIT_MS));
    },
  };
}
