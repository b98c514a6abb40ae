/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/**
 * Weight of an observation below the mean. The weight is large, so that a few probes lower the estimate again after a
 * slow cold start.
 */
const RECOVERY_GAIN = 1 / 2;

export interface RegionEstimate {
  /** @param computeMs predicted milliseconds of the region's computation */
  predict(computeMs: number): number;
  /**
   * Learns from one fetch.
   *
   * @param fetch `totalMs` is the measured time of the fetch, `computedMs` the computation time that the region
   *   reports, and `computeMs` the predicted computation time. `computedMs` and `computeMs` are 0 if the region did not
   *   compute, or if the time is unknown.
   */
  observe(fetch: { totalMs: number; computedMs: number; computeMs: number }): void;
}

/**
 * Estimates the time of a region's answer: `overhead + deviation + slowdown · computation`. The estimate learns the
 * overhead (network, TLS, queue) and its mean deviation from measured fetches. The slowdown is the reported computation
 * time divided by the predicted time, averaged over fetches. It is needed because the model was measured on another
 * machine.
 *
 * @param priorMs overhead to predict before the first fetch
 */
export function regionEstimate(priorMs: number): RegionEstimate {
  let overhead = priorMs;
  let deviation = 0;
  let slowdown: number | undefined;
  let observed = false;
  return {
    predict: (computeMs) => overhead + deviation + (slowdown ?? 1) * computeMs,
    observe({ totalMs, computedMs, computeMs }) {
      const sample = Math.max(0, totalMs - computedMs);
      deviation += DEVIATION_GAIN * (Math.abs(sample - (observed ? overhead : sample)) - deviation);
      overhead += (observed ? (sample < overhead ? RECOVERY_GAIN : MEAN_GAIN) : 1) * (sample - overhead);
      if (sample < overhead) deviation = Math.min(deviation, overhead - sample);
      observed = true;
      if (computeMs === 0 || computedMs === 0) {
        // A region that seems slow gets only probes. They do not compute, so they cannot correct the slowdown.
        // Therefore the slowdown moves towards 1.
        if (slowdown !== undefined) slowdown += MEAN_GAIN * (1 - slowdown);
        return;
      }
      const ratio = computedMs / computeMs;
      slowdown = slowdown === undefined ? ratio : slowdown + MEAN_GAIN * (ratio - slowdown);
    },
  };
}
