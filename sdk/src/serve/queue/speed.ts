import { trendLine } from "./trend-line.ts";

/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
const MEAN_GAIN = 1 / 8;
const DEVIATION_GAIN = 1 / 4;

/** Relative deviation of a prediction before the first observation. */
const FIRST_DEVIATION = 1 / 4;

/** Bounds of the factor: a clock that jumps, or a client that reports wrong times, must not stop all requests. */
const [MIN_FACTOR, MAX_FACTOR] = [1 / 8, 32];

/** Longest gap that is believed, in ms: a machine that pauses for longer is not busy between turns. */
const MAX_GAP_MS = 50;

/** Turns shorter than this, in ms, tell little about the speed: the clock and the scheduler disturb them too much. */
const MIN_TURN_MS = 0.5;

const bounded = (factor: number) => Math.min(Math.max(factor, MIN_FACTOR), MAX_FACTOR);

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
  /**
   * Learns from a client, while the clock stands still during computation: only the client's clock sees what an answer
   * took. Its time includes the network, which is about the same for short and long answers.
   *
   * @param predictedMs what this deployment predicted for the answer
   * @param measuredMs what the client measured from sending the request to receiving the answer
   */
  observeReport(predictedMs: number, measuredMs: number): void;
  /** Learns the time between two turns when the next one is waiting: reading requests and writing answers. */
  observeGap(ms: number): void;
}

/** Makes a speed that begins with the assumption of equal machines, and learns from every turn. */
export function machineSpeed(): Speed {
  let factor = 1;
  let deviation = FIRST_DEVIATION;
  let gapMs = 0;
  let observed = 0;
  /** Whether the clock stood still during the last computation. */
  let stands = false;
  const reports = trendLine();
  return {
    predict: (ms, turns) => ({ ms: factor * ms + gapMs * turns, spreadMs: deviation * ms }),
    observe(ms, tookMs) {
      if (ms < MIN_TURN_MS) return;
      stands = tookMs === 0;
      if (tookMs <= 0) return;
      const ratio = bounded(tookMs / ms);
      observed++;
      deviation += DEVIATION_GAIN * (Math.abs(ratio - factor) - deviation);
      // The first observations are averaged, so that they replace the assumption within a few turns.
      factor += Math.max(MEAN_GAIN, 1 / observed) * (ratio - factor);
    },
    observeReport(predictedMs, measuredMs) {
      if (!stands) return;
      // A prediction that is right makes a line with the slope 1; its distance from zero is the time on the network.
      const slope = reports.slopeWith(predictedMs, measuredMs);
      if (slope === undefined) return;
      factor = bounded(factor * (1 + MEAN_GAIN * (bounded(slope) - 1)));
    },
    observeGap(ms) {
      gapMs += MEAN_GAIN * (Math.min(ms, MAX_GAP_MS) - gapMs);
    },
  };
}
