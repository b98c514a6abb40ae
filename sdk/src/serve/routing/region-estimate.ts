/** Weights of a new observation in the mean and in the mean deviation: RFC 6298's, as TCP estimates round trips. */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** A region that was measured while it started is found quick again within a few probes. */
const RECOVERY_GAIN = 1 / 2;

export interface RegionEstimate {
  /** @param computeMs what the manifest says the region's computation takes */
  predict(computeMs: number): number;
  /**
   * A fetch took `totalMs`, of which the region says it computed `computedMs` for what was predicted `computeMs`; 0 where
   * nothing was computed or said.
   */
  observe(fetch: { totalMs: number; computedMs: number; computeMs: number }): void;
}

/**
 * What a regional answer takes: `overhead + spread + slowdown · computation`. The overhead (network, TLS, queue) and its
 * spread are learned from measured fetches, and the slowdown from what the region reports, for it is another machine
 * than the one that prepared the model.
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
        // A region thought slow is sent nothing that could show otherwise: without news it is forgiven, bit by bit.
        if (slowdown !== undefined) slowdown += MEAN_GAIN * (1 - slowdown);
        return;
      }
      const ratio = computedMs / computeMs;
      slowdown = slowdown === undefined ? ratio : slowdown + MEAN_GAIN * (ratio - slowdown);
    },
  };
}
