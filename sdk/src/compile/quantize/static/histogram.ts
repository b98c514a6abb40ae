import { BertEdgeError } from "../../../artifact/error.ts";
import { symmetricStep } from "../symmetric-step.ts";

/** The least and the greatest of some numbers. */
export interface Range {
  readonly least: number;
  readonly greatest: number;
}

/**
 * How often magnitudes occur: a bin for every pattern of the upper 16 bits of a float32, sign aside. Bins are at most 2⁻⁷
 * of their magnitude wide, from the smallest normal number to the largest.
 */
export type Histogram = Float64Array;

/** Bits of a float32 below those that choose its bin. */
const BELOW = 16;

export const emptyHistogram = (): Histogram => new Float64Array(2 ** (31 - BELOW));

/** @param bits of a float32 */
export const binOf = (bits: number): number => (bits & 0x7fff_ffff) >>> BELOW;

/**
 * The range around 0 that this share of all numbers lies in: what lies outside is rare enough to be cut off, so that the
 * others are rounded less. It is too wide by one bin at most.
 *
 * @param percentile above 0, at most 100
 * @throws BertEdgeError `calibration_invalid` when nothing was counted, or the percentile is none
 */
export function percentileRange(histogram: Histogram, percentile: number): Range {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (!(percentile > 0 && percentile <= 100) || total === 0) {
    throw new BertEdgeError("calibration_invalid", `There is no ${percentile}th percentile of ${total} numbers.`, {
      hint: "Percentiles are above 0 and at most 100, as 99.99 is; calibration needs texts.",
    });
  }
  let inside = 0;
  const last = histogram.findIndex((count) => {
    inside += count;
    return inside >= (total * percentile) / 100;
  });
  return around0(upperEdge(last));
}

/**
 * The range around 0 whose rounding to int8 changes the numbers least, by the sum of squares: a narrower one has smaller
 * steps, and cuts off more. Steps of s change a number by s² / 12 on average, or to 0 below half a step.
 *
 * https://arxiv.org/abs/1810.05723, section 3, without its assumption of a distribution
 */
export function leastErrorRange(histogram: Histogram): Range {
  const bins = [...histogram.entries()].flatMap(([bin, count]) =>
    count > 0 ? [{ limit: upperEdge(bin), middle: floatOf((2 * bin + 1) << (BELOW - 1)), count }] : [],
  );
  const errorOf = (limit: number): number => {
    const step = symmetricStep(limit);
    const change = (x: number) => (x > limit ? (x - limit) ** 2 : x < step / 2 ? x ** 2 : step ** 2 / 12);
    return bins.reduce((sum, { middle, count }) => sum + count * change(middle), 0);
  };
  let best = { limit: 0, error: Number.POSITIVE_INFINITY };
  for (const { limit } of bins) {
    const error = errorOf(limit);
    if (error <= best.error) best = { limit, error };
  }
  return around0(best.limit);
}

const around0 = (limit: number): Range => ({ least: -limit, greatest: limit });

const upperEdge = (bin: number): number => (bin === 0 ? 0 : floatOf((bin + 1) << BELOW));

const floatOf = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0] as number;
