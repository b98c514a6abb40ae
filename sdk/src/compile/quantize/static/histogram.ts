import { BertEdgeError } from "../../../artifact/error.ts";
import { symmetricScale } from "../scales.ts";

/** Minimum and maximum of an activation. */
export interface ActivationRange {
  readonly min: number;
  readonly max: number;
}

/**
 * Number of float32 values in each bin of magnitudes. The bin of a float32 is its upper 16 bits without the sign bit.
 * For normal numbers, the width of a bin is at most 2⁻⁷ of its lower edge.
 */
export type Histogram = Float64Array;

/** Number of low bits of a float32 that do not affect its bin. */
const BELOW = 16;

export const emptyHistogram = (): Histogram => new Float64Array(2 ** (31 - BELOW));

/** @param bits bit pattern of a float32 */
export const binOf = (bits: number): number => (bits & 0x7fff_ffff) >>> BELOW;

/**
 * Returns the range around 0 that contains `percentile` percent of all numbers. Clipping the rare numbers outside this
 * range reduces the rounding error of all other numbers. The range is too wide by at most one bin.
 *
 * @param percentile above 0, at most 100
 * @throws BertEdgeError `calibration_invalid` when nothing was counted, or the percentile is out of range
 */
export function percentileRange(histogram: Histogram, percentile: number): ActivationRange {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (!(percentile > 0 && percentile <= 100) || total === 0) {
    throw new BertEdgeError("calibration_invalid", `Cannot compute percentile ${percentile} of ${total} numbers.`, {
      hint: "Use a percentile above 0 and at most 100, for example 99.99, and at least one calibration text.",
    });
  }
  let inside = 0;
  const last = histogram.findIndex((count) => {
    inside += count;
    return inside >= (total * percentile) / 100;
  });
  return symmetric(upperEdge(last));
}

/**
 * Returns the range around 0 with the smallest sum of squared int8 rounding errors. A narrower range has a smaller scale,
 * but clips more. The mean squared error of rounding with scale s is s² / 12. Numbers below s / 2 become 0, so each number is its own
 * error.
 *
 * Section 3 of https://arxiv.org/abs/1810.05723 describes the method. The paper assumes a distribution of the numbers;
 * this function uses the observed distribution.
 */
export function minErrorRange(histogram: Histogram): ActivationRange {
  const bins = [...histogram.entries()].flatMap(([bin, count]) =>
    count > 0 ? [{ limit: upperEdge(bin), middle: floatOf((2 * bin + 1) << (BELOW - 1)), count }] : [],
  );
  const errorOf = (limit: number): number => {
    const scale = symmetricScale(limit);
    const squaredError = (x: number) => (x > limit ? (x - limit) ** 2 : x < scale / 2 ? x ** 2 : scale ** 2 / 12);
    return bins.reduce((sum, { middle, count }) => sum + count * squaredError(middle), 0);
  };
  let best = { limit: 0, error: Number.POSITIVE_INFINITY };
  for (const { limit } of bins) {
    const error = errorOf(limit);
    if (error <= best.error) best = { limit, error };
  }
  return symmetric(best.limit);
}

const symmetric = (limit: number): ActivationRange => ({ min: -limit, max: limit });

const upperEdge = (bin: number): number => (bin === 0 ? 0 : floatOf((bin + 1) << BELOW));

const floatOf = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0] as number;
