import type { LatencyFit } from "../../artifact/measurements.ts";

/**
 * Assumed latency of a target that was not measured: about that of a model with 6 layers of 384. The speed of the machine
 * is learned relative to it.
 */
export const UNMEASURED: LatencyFit = { base: 1, perToken: 0.1, perSquare: 0.0002 };

/**
 * Predicts the milliseconds of one call: `base · sequences + perToken · Σ length + perSquare · Σ length²`.
 * The sequences run one after another, so each of them costs `base`.
 */
export function predictLatency({ base, perToken, perSquare }: LatencyFit, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + base + perToken * length + perSquare * length ** 2, 0);
}
