/** Weights of a new observation in the mean and in the mean deviation, as TCP estimates round trips: RFC 6298. */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** Weight of an observation below the mean: a region measured during its start counts as fast again after a few probes. */
const RECOVERY_GAIN = 1 / 2;

export interface RegionEstimate {
  /** @param computeMs the region's computation according to the manifest */
  predict(computeMs: number): number;
  /**
   * Learns from a fetch of `totalMs`.
   *
   * @param fetch `computedMs` is the time that the region reports, `computeMs` the time that the manifest predicted. Both
   *   are 0 when nothing was computed or reported.
   */
  observe(fetch: { totalMs: number; computedMs: number; computeMs: number }): void;
}

/**
 * Estimates the time of a region's answer: `overhead + deviation + slowdown · computation`. The overhead (network, TLS,
 * queue) and its mean deviation are learned from measured fetches. The slowdown is learned from the times that the region
 * reports, because the model was measured on another machine.
 *
 * @param priorMs the overhead to assume before the first fetch
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
        // A region that seems slow gets no work that could show otherwise, so its slowdown fades towards 1.
        if (slowdown !== undefined) slowdown += MEAN_GAIN * (1 - slowdown);
        return;
      }
      const ratio = computedMs / computeMs;
      slowdown = slowdown === undefined ? ratio : slowdown + MEAN_GAIN * (ratio - slowdown);
    },
  };
}
