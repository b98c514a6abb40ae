/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** Relative deviation of a prediction before the first observation. */
const FIRST_DEVIATION = 1 / 4;

/** Bounds of the factor: a clock that jumps, or a client that reports wrong times, must not stop all requests. */
const [MIN_FACTOR, MAX_FACTOR] = [1 / 8, 32];

/** Turns shorter than this, in ms, tell little about the speed: the clock and the scheduler disturb them too much. */
const MIN_TURN_MS = 0.5;

/** A predicted time in milliseconds, and its mean deviation. */
export interface Estimate {
  readonly ms: number;
  readonly spreadMs: number;
}

/** The speed of this machine, compared with the machine that measured the model. */
export interface Speed {
  /**
   * Predicts the time of work.
   *
   * @param ms milliseconds on the machine that measured the model
   * @param turns number of turns in which the work is done
   */
  predict(ms: number, turns: number): Estimate;
  /**
   * Learns from a turn.
   *
   * @param ms milliseconds on the machine that measured the model
   * @param tookMs measured milliseconds. A clock that stands still during computation, as on deployed Workers, gives 0:
   *   such a turn is ignored.
   */
  observe(ms: number, tookMs: number): void;
  /** Learns the time between two turns when the next one is waiting: reading requests and writing answers. */
  observeGap(ms: number): void;
}

/** Makes a speed that begins with the assumption of equal machines, and learns from every turn. */
export function machineSpeed(): Speed {
  let factor = 1;
  let deviation = FIRST_DEVIATION;
  let gapMs = 0;
  let observed = 0;
  return {
    predict: (ms, turns) => ({ ms: factor * ms + gapMs * turns, spreadMs: deviation * ms }),
    observe(ms, tookMs) {
      if (ms < MIN_TURN_MS || tookMs <= 0) return;
      const ratio = Math.min(Math.max(tookMs / ms, MIN_FACTOR), MAX_FACTOR);
      observed++;
      deviation += DEVIATION_GAIN * (Math.abs(ratio - factor) - deviation);
      // The first observations are averaged, so that they replace the assumption within a few turns.
      factor += Math.max(MEAN_GAIN, 1 / observed) * (ratio - factor);
    },
    observeGap(ms) {
      gapMs += MEAN_GAIN * (ms - gapMs);
    },
  };
}
