import { LEAST_STEP } from "../symmetric-step.ts";

/** The whole numbers that a weight may become. */
export interface Levels {
  readonly least: number;
  readonly greatest: number;
  /** Whether zero is 0, as kernels without zero points want it. */
  readonly symmetric: boolean;
}

/** Symmetric, for kernels without zero points; −128 stays unused, so that w and −w are equally exact. */
export const I8: Levels = { least: -127, greatest: 127, symmetric: true };

/** One output channel's grid: weight ≈ step · (level − zero). */
export interface Grid {
  readonly step: number;
  readonly zero: number;
}

/** The grid that reaches from the least of a channel's weights to the greatest, zero included. */
export function fullGrid(channel: Float32Array, levels: Levels): Grid {
  const [low, high] = extent(channel);
  return gridBetween(low, high, levels);
}

/**
 * The grid with the least Σ importance · (weight − rounded weight)² among those that keep from all to 70 % of the range:
 * to clip the few largest weights can cost less than coarser steps for all.
 *
 * @param importance [in], mean square of each input; undefined where all count the same
 */
export function bestGrid(channel: Float32Array, levels: Levels, importance?: Float64Array): Grid {
  const [low, high] = extent(channel);
  let [best, least] = [gridBetween(low, high, levels), Number.POSITIVE_INFINITY];
  for (const share of SHARES) {
    const grid = gridBetween(low * share, high * share, levels);
    let error = 0;
    for (let i = 0; i < channel.length && error < least; i++) {
      const weight = channel[i] as number;
      const difference = weight - grid.step * (levelOf(weight, grid, levels) - grid.zero);
      error += difference * difference * (importance?.[i] ?? 1);
    }
    if (error < least) [best, least] = [grid, error];
  }
  return best;
}

const SHARES = Array.from({ length: 16 }, (_, i) => 1 - 0.02 * i);

/** The level nearest to a weight. */
export const levelOf = (weight: number, { step, zero }: Grid, { least, greatest }: Levels): number =>
  Math.min(Math.max(Math.round(weight / step) + zero, least), greatest);

function extent(channel: Float32Array): [low: number, high: number] {
  let [low, high] = [0, 0];
  for (let i = 0; i < channel.length; i++) {
    low = Math.min(low, channel[i] as number);
    high = Math.max(high, channel[i] as number);
  }
  return [low, high];
}

function gridBetween(low: number, high: number, { least, greatest, symmetric }: Levels): Grid {
  const span = symmetric ? Math.max(-low, high) / greatest : (high - low) / (greatest - least);
  const step = Math.fround(Math.max(span, LEAST_STEP));
  const zero = symmetric ? 0 : Math.min(Math.max(Math.round(least - low / step), least), greatest);
  return { step, zero };
}
