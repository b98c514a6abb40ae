/** Weights of a new observation in the mean and in the mean deviation, as for TCP round trips (RFC 6298). */
export const MEAN_GAIN = 1 / 8;
export const DEVIATION_GAIN = 1 / 4;

/** Maximum weight of all past measurements together, in measurements. At this weight, the gain of a new one is `MEAN_GAIN`. */
const MAX_WEIGHT = 1 / MEAN_GAIN - 1;

/** Distance below the mean, in deviations, beyond which a measurement counts as a fall of a quantity that scatters. */
const CLEARLY = 2;

/** Age in ms up to which a measurement keeps its whole weight. */
const FRESH_MS = 10_000;

/** Time in ms in which an older measurement loses half of its weight. */
const HALF_LIFE_MS = 30_000;

/** The bounds between which a measured quantity lies. They are equal when it was measured exactly. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export const exactly = (value: number): Interval => ({ from: value, to: value });

interface EwmaOptions {
  /** Mean until a measurement contradicts it. */
  readonly prior: number;
  /** Mean deviation before the first measurement, relative to the mean. Default 0. */
  readonly deviation?: number;
  /**
   * Weight of the prior, in measurements, if the quantity scatters. The first measurements are averaged with the prior. A measurement
   * that is only a little below the mean does not count as a fall. Default: the first measurement replaces the prior.
   */
  readonly weight?: number;
  /** Minimum gain of a measurement that shows a fall of the quantity. Default: the gain of any other measurement. */
  readonly fallGain?: number;
  /**
   * Clock, in ms, by which measurements age: a mean above the prior returns to it, and the deviation grows by the same amount. A
   * time that was long may be short again, but nobody measures it while the prediction stays high. Default: measurements do not age.
   */
  readonly now?: () => number;
}

/** Makes an exponentially weighted moving average (EWMA) with a mean deviation. The gains are those of TCP round trips: RFC 6298. */
export function ewma(options: EwmaOptions) {
  const { prior, deviation: priorDeviation = 0, weight: priorWeight = 0, fallGain = 0, now = () => 0 } = options;
  const scatters = priorWeight > 0;
  let mean = prior;
  let deviation = priorDeviation * prior;
  let total = priorWeight;
  let measuredAt = now();

  /** Returns the share of its weight that the last measurement still has. */
  const kept = () => 2 ** (-Math.max(0, now() - measuredAt - FRESH_MS) / HALF_LIFE_MS);
  const currentTotal = () => priorWeight + (total - priorWeight) * kept();

  const quantity = {
    get mean() {
      return mean > prior ? prior + (mean - prior) * kept() : mean;
    },
    /** Mean deviation from the mean. It does not grow while the quantity falls, because only underestimates make answers late. */
    get deviation() {
      const [share, current] = [kept(), quantity.mean];
      return share * deviation + (1 - share) * priorDeviation * current + (mean - current);
    },
    /**
     * Learns from a measurement. A mean outside of the interval moves towards the nearer end. A mean inside stays, because
     * every number of the interval is possible.
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
      // An interval that contains the mean does not confirm it, so `total` does not grow.
      if (nearest === mean && from < to) return;
      const gain = weight / (total + weight);
      mean += (hasFallen ? Math.max(gain, fallGain * weight) : gain) * (nearest - mean);
      total = scatters ? Math.min(total + weight, MAX_WEIGHT) : MAX_WEIGHT;
      // A larger deviation would keep predictions high although the mean has fallen.
      if (hasFallen && !scatters && !isFirst) deviation = Math.min(deviation, mean - nearest);
    },
    /** Replaces the mean by a value that was computed from many measurements. */
    replace(value: number): void {
      deviation = quantity.deviation;
      mean = value;
      total = MAX_WEIGHT;
      measuredAt = now();
    },
    /** Restores the whole weight of the last measurement, which still holds but cannot be repeated. */
    confirm(): void {
      measuredAt = now();
    },
  };
  return quantity;
}
