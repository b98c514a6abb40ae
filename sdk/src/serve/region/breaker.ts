/**
 * Number of failures in a row that open the breaker. One lost connection says little: at 100 requests a second and one loss
 * in 1,000, a breaker that opens at the first loss is open for 5 % of the time, and this one for 0.005 %. In an outage, one
 * more request is late.
 */
const FAILURES = 2;

/** First and longest pause of an open breaker, in ms. Every failure doubles the pause. A long pause leaves a recovered region unused. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 4_000;

/**
 * Keeps requests away from a region that fails.
 *
 * - `closed`: requests are sent.
 * - `open`: nothing is sent.
 * - `half-open`: the pause is over, and a probe is sent. Requests are sent again after the probe has succeeded.
 */
export function breaker(now: () => number) {
  /** Failures since the last answer. */
  let failures = 0;
  /** Whether the last failure has been neither confirmed nor refuted yet. */
  let suspected = false;
  let openedAt = Number.NEGATIVE_INFINITY;
  let openUntil: number | undefined;

  const state = () => (openUntil === undefined ? "closed" : now() < openUntil ? "open" : "half-open");

  /**
   * Records that a probe succeeded. The failures before it still count: a region can pass probes and fail requests, for
   * example if the key is wrong. Then the next failure opens the breaker again, for twice the time.
   */
  function probed(): void {
    suspected = false;
    openUntil = undefined;
  }

  return {
    state,
    probed,
    /** Whether a probe should be sent now: when the breaker is half-open, or to confirm the last failure. */
    wantsProbe: () => suspected || state() === "half-open",
    /** Records that the region answered a request. */
    answered(): void {
      failures = 0;
      probed();
    },
    /**
     * Records a failure, and returns whether it opened the breaker. Failures of requests sent before the last opening are ignored.
     *
     * @param isCertain whether the region responded with an error or a wrong answer. Then the breaker opens at once.
     */
    failed(sentAt: number, isCertain = false): boolean {
      if (sentAt < openedAt || state() === "open") return false;
      failures = Math.max(failures + 1, isCertain ? FAILURES : 0);
      suspected = failures < FAILURES;
      if (suspected) return false;
      openedAt = now();
      openUntil = openedAt + Math.min(FIRST_PAUSE_MS * 2 ** (failures - FAILURES), LONGEST_PAUSE_MS);
      return true;
    },
  };
}
