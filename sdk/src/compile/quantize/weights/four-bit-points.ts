import type { WeightGroup } from "../../../runtime/engine/wasm/ops/linear.ts";

/**
 * Weights of 4 bits lie on some points of their channel's grid of 7 bits. The weights of neighbouring inputs, `group` of them, share a
 * base and a multiplier, and stand for base + multiplier · code. Codes are 0 to 15.
 */
export interface FourBitPoints {
  readonly group: WeightGroup;
  /** Number of groups of an output. */
  readonly groups: number;
  /** [out, groups]: 0 to 127. */
  readonly bases: Uint8Array;
  /** [out, groups]: 1 to 8. */
  readonly multipliers: Uint8Array;
}

/** Maximum of a code. */
export const MAX_CODE = 15;
/** Maximum of a weight of 7 bits. */
const MAX_WEIGHT = 127;
/** With the next larger multiplier, the points would leave the grid. */
const MAX_MULTIPLIER = Math.floor(MAX_WEIGHT / MAX_CODE);

/** Returns the point that is nearest to `number`. */
export function nearestPoint(number: number, base: number, multiplier: number): number {
  const code = Math.floor((number - base) / multiplier + 0.5);
  return base + multiplier * Math.min(Math.max(code, 0), MAX_CODE);
}

/**
 * Multipliers to try, as shares of the one that reaches from the smallest to the largest number of a group. With a smaller multiplier,
 * points are closer together, but the largest and smallest numbers are clipped.
 */
const [SMALLEST_SHARE, LARGEST_SHARE] = [0.6, 1.1];
/** How far bases are tried from the one that centres the points, in multipliers. */
const BASE_REACH = 1.5;

/**
 * Returns the base and the multiplier that minimize Σ importance · (number − nearest point)².
 *
 * @param numbers the weights of a group, as numbers of the grid of 7 bits
 */
export function bestPoints(numbers: Float64Array, importance: Float64Array): [base: number, multiplier: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < numbers.length; i++) {
    low = Math.min(low, numbers[i] as number);
    high = Math.max(high, numbers[i] as number);
  }
  let best: [number, number] = [0, 1];
  let minError = Number.POSITIVE_INFINITY;
  const reaching = (high - low) / MAX_CODE;
  const largest = Math.min(Math.max(Math.ceil(reaching * LARGEST_SHARE), 1), MAX_MULTIPLIER);
  for (
    let multiplier = Math.min(Math.max(Math.floor(reaching * SMALLEST_SHARE), 1), largest);
    multiplier <= largest;
    multiplier++
  ) {
    const span = MAX_CODE * multiplier;
    const centred = (low + high - span) / 2;
    const within = (base: number) => Math.min(Math.max(base, 0), MAX_WEIGHT - span);
    const last = within(Math.ceil(centred + BASE_REACH * multiplier));
    for (let base = within(Math.floor(centred - BASE_REACH * multiplier)); base <= last; base++) {
      let error = 0;
      for (let i = 0; i < numbers.length && error < minError; i++) {
        const difference = (numbers[i] as number) - nearestPoint(numbers[i] as number, base, multiplier);
        error += difference * difference * (importance[i] as number);
      }
      if (error < minError) [best, minError] = [[base, multiplier], error];
    }
  }
  return best;
}
