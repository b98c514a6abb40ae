import type { TargetName } from "../../artifact/manifest.ts";
import type { LatencyFit, Measurements } from "../../artifact/measurements.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";

/**
 * Predicts the milliseconds of one call: `base · sequences + perToken · Σ length + perSquare · Σ length²`.
 * The sequences run one after another, so each of them costs `base`.
 */
export function predictLatency({ base, perToken, perSquare }: LatencyFit, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + base + perToken * length + perSquare * length ** 2, 0);
}

/** Predicts the milliseconds of one call with `sequences` on a target; undefined if the target was not measured. */
export function predictMs(
  measurements: Measurements,
  target: TargetName,
  sequences: readonly TokenIds[],
): number | undefined {
  const latency = measurements[target]?.latency;
  const lengths = sequences.map(({ length }) => length);
  return latency && predictLatency(latency, lengths);
}
