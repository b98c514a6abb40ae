import { MIN_SCALE, roundQuotient } from "../scales.ts";

/** Range of integers that weights are rounded to. */
export interface IntegerRange {
  readonly min: number;
  readonly max: number;
  /** Whether the zero point is 0, for kernels without zero points. */
  readonly symmetric: boolean;
}

/** For kernels without zero points. −128 is not used, so that w and −w have the same rounding error. */
export const INT8_SYMMETRIC: IntegerRange = { min: -127, max: 127, symmetric: true };

/** Parameters of a channel or a block: weight ≈ scale · (integer − zeroPoint). */
export interface QuantizationParameters {
  readonly scale: number;
  readonly zeroPoint: number;
}

/**
 * Returns the parameters for the range from the smallest to the largest weight of a channel. The range includes zero.
 */
export function minMaxParameters(channel: Float32Array, integers: IntegerRange): QuantizationParameters {
  const [low, high] = rangeOf(channel);
  return parametersFor(low, high, integers);
}

/**
 * Returns the parameters that minimize Σ importance · (weight − quantized weight)². The function
 * tries ranges from 100 % down to 70 % of a channel's range, because clipping a few large weights can cost less accuracy
 * than a larger scale for all weights.
 *
 * @param importance [in], Σ x² of each input; undefined when all inputs have the same importance
 */
export function minErrorParameters(
  channel: Float32Array,
  integers: IntegerRange,
  importance?: Float64Array,
): QuantizationParameters {
  const [low, high] = rangeOf(channel);
  let best = parametersFor(low, high, integers);
  let minError = Number.POSITIVE_INFINITY;
  for (const share of CLIPPING_SHARES) {
    const parameters = parametersFor(low * share, high * share, integers);
    const { scale, zeroPoint } = parameters;
    let error = 0;
    for (let i = 0; i < channel.length && error < minError; i++) {
      const weight = channel[i] as number;
      const integer = quantizeNumber(weight, parameters, integers);
      const difference = weight - scale * (integer - zeroPoint);
      error += difference * difference * (importance === undefined ? 1 : (importance[i] as number));
    }
    if (error < minError) [best, minError] = [parameters, error];
  }
  return best;
}

/** Shares of a channel's range to try: 1, 0.98, … 0.7. */
const CLIPPING_SHARES = Array.from({ length: 16 }, (_, i) => 1 - 0.02 * i);

/** Rounds a float32 weight to the nearest integer of the range. */
export const quantizeNumber = (
  weight: number,
  { scale, zeroPoint }: QuantizationParameters,
  { min, max }: IntegerRange,
): number => Math.min(Math.max(roundQuotient(weight / scale) + zeroPoint, min), max);

function rangeOf(channel: Float32Array): [low: number, high: number] {
  let [low, high] = [0, 0];
  for (let i = 0; i < channel.length; i++) {
    low = Math.min(low, channel[i] as number);
    high = Math.max(high, channel[i] as number);
  }
  return [low, high];
}

function parametersFor(low: number, high: number, { min, max, symmetric }: IntegerRange): QuantizationParameters {
  const exact = symmetric ? Math.max(-low, high) / max : (high - low) / (max - min);
  const scale = Math.fround(Math.max(exact, MIN_SCALE));
  const zeroPoint = symmetric ? 0 : Math.min(Math.max(Math.round(min - low / scale), min), max);
  return { scale, zeroPoint };
}
