/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
export const MEAN_GAIN = 1 / 8;
export const DEVIATION_GAIN = 1 / 4;

/** Weight of everything that was measured, in measurements. It makes the gain of one more `MEAN_GAIN`. */
const MAX_WEIGHT = 1 / MEAN_GAIN - 1;

/** A measurement that is this number of deviations below the mean shows that the quantity has fallen, even if it scatters. */
const CLEARLY = 2;

/** Age in ms up to which a measurement tells what is true now. */
const FRESH_MS = 10_000;

/** Time in ms in which an older one loses half of its weight. */
const HALF_LIFE_MS = 30_000;

/** The bounds between which a measured quantity lies. They are equal when it was measured exactly. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export const exactly = (value: number): Interval => ({ from: value, to: value });

interface EwmaOptions {
  /** The mean before the first measurement that contradicts it. */
  readonly prior: number;
  /** The mean deviation before the first measurement, relative to the mean. Default 0 */
  readonly deviation?: number;
  /**
   * Weight of the prior, in measurements, of a quantity that scatters. The first measurements are averaged with it, and one that is a
   * little below the mean does not show that the quantity has fallen. Default: the first measurement replaces the prior.
   */
  readonly weight?: number;
  /** Smallest weight of a measurement that shows that the quantity has fallen. Default: that of any other */
  readonly fallGain?: number;
  /**
   * Clock, in ms, by which measurements age. What is old is not certain, and a time that was long may be short again: it would
   * not be measured again if nobody expected this. So the mean returns to its prior if it is above it, and the deviation grows by
   * as much. Default: measurements do not age.
   */
  readonly now?: () => number;
}

/** Makes an exponentially weighted moving average (EWMA) and mean deviation. Measurements count as those of TCP round trips do: RFC 6298. */
export function ewma(options: EwmaOptions) {
  const { prior, deviation: priorDeviation = 0, weight: priorWeight = 0, fallGain = 0, now = () => 0 } = options;
  const scatters = priorWeight > 0;
  let mean = prior;
  let deviation = priorDeviation * prior;
  let total = priorWeight;
  let measuredAt = now();

  /** Returns the share of what was measured that still counts. */
  const kept = () => 2 ** (-Math.max(0, now() - measuredAt - FRESH_MS) / HALF_LIFE_MS);
  const currentTotal = () => priorWeight + (total - priorWeight) * kept();

  const quantity = {
    get mean() {
      return mean > prior ? prior + (mean - prior) * kept() : mean;
    },
    /** The mean deviation from the mean. It does not grow while the quantity falls: only what takes longer than predicted is late. */
    get deviation() {
      const [share, current] = [kept(), quantity.mean];
      return share * deviation + (1 - share) * priorDeviation * current + (mean - current);
    },
    /**
     * Learns from a measurement. The mean moves only if it lies outside of the interval, and then towards the nearer end:
     * the rest of the interval is possible, but unknown.
     *
     * @param weight between 0 and 1
     */
    observe({ from, to }: Interval, weight = 1): void {
      [mean, deviation, total] = [quantity.mean, quantity.deviation, currentTotal()];
      measuredAt = now();
      const nearest = Math.min(Math.max(mean, from), to);
      const isFirst = total === 0;
      const hasFallen = nearest < mean && (!scatters || mean - nearest > CLEARLY * deviation);
      if (!isFirst) {
        const most = Math.max(Math.abs(from - mean), Math.abs(to - mean));
        const error = Math.min(Math.max(deviation, Math.abs(nearest - mean)), most);
        deviation += DEVIATION_GAIN * weight * ((hasFallen ? Math.min(error, deviation / 2) : error) - deviation);
      }
      // An interval that contains the mean is no reason to believe it.
      if (nearest === mean && from < to) return;
      const gain = weight / (total + weight);
      mean += (hasFallen ? Math.max(gain, fallGain * weight) : gain) * (nearest - mean);
      total = scatters ? Math.min(total + weight, MAX_WEIGHT) : MAX_WEIGHT;
      // Otherwise, it would keep a prediction high that the mean has already given up.
      if (hasFallen && !scatters && !isFirst) deviation = Math.min(deviation, mean - nearest);
    },
    /** Replaces the mean by one that follows from many measurements. */
    replace(value: number): void {
      deviation = quantity.deviation;
      mean = value;
      total = MAX_WEIGHT;
      measuredAt = now();
    },
    /** Says that what was measured last still holds, although it cannot be measured again. */
    confirm(): void {
      measuredAt = now();
    },
  };
  return quantity;
}
