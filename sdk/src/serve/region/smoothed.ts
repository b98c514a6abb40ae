import { DEVIATION_GAIN, MEAN_GAIN } from "../gains.ts";

/** The bounds between which a measured quantity lies. They are equal when it was measured exactly. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The mean of a quantity, and its mean deviation from the mean. */
export interface Smoothed {
  readonly mean: number;
  readonly deviation: number;
  /**
   * Learns from a measurement. The mean moves only if it lies outside of the interval, and then towards the nearer end:
   * the rest of the interval is possible, but unknown.
   */
  observe(measured: Interval): void;
  /**
   * Moves the mean towards a value, and the deviation towards 0, as one observation does, without counting as a measurement.
   */
  driftTo(value: number): void;
}

/**
 * Makes a smoothed quantity.
 *
 * @param prior the mean before the first measurement that contradicts it, which replaces it
 * @param fallGain weight of a measurement below the mean
 */
export function smoothed(prior: number, fallGain: number = MEAN_GAIN): Smoothed {
  let mean = prior;
  let deviation = 0;
  let isPrior = true;
  return {
    get mean() {
      return mean;
    },
    get deviation() {
      return deviation;
    },
    observe({ from, to }) {
      const nearest = Math.min(Math.max(mean, from), to);
      if (isPrior) {
        isPrior = nearest === mean && from < to;
        mean = nearest;
        return;
      }
      const least = Math.abs(nearest - mean);
      const most = Math.max(Math.abs(from - mean), Math.abs(to - mean));
      deviation += DEVIATION_GAIN * (Math.min(Math.max(deviation, least), most) - deviation);
      mean += (nearest < mean ? fallGain : MEAN_GAIN) * (nearest - mean);
      // While the mean falls, the deviation would otherwise keep a prediction high that the mean has already given up.
      if (nearest < mean) deviation = Math.min(deviation, mean - nearest);
    },
    driftTo(value) {
      if (isPrior) return;
      mean += MEAN_GAIN * (value - mean);
      deviation -= DEVIATION_GAIN * deviation;
    },
  };
}
