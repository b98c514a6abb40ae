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

/** Returns the tokens of the longest sequence that a target computes alone in a time; 0 if it computes none. */
export function tokensWithin({ base, perToken, perSquare }: LatencyFit, ms: number): number {
  const leftMs = ms - base;
  if (leftMs <= 0) return 0;
  // The positive root of perSquare · n² + perToken · n = leftMs, in a form that needs no perSquare.
  const root = (2 * leftMs) / (perToken + Math.sqrt(perToken ** 2 + 4 * perSquare * leftMs));
  return Math.floor(root);
}
