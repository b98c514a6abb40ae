import type { Cost, EmbedManifest, TargetName } from "../../artifact/manifest.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";

/**
 * Predicts the milliseconds of one call: `base · sequences + perToken · Σ length + perSquare · Σ length²`.
 * The sequences run one after another, so each pays the base.
 */
export function predictCost({ base, perToken, perSquare }: Cost, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + base + perToken * length + perSquare * length ** 2, 0);
}

/** Predicts the milliseconds of `sequences` on a target; undefined when the manifest has no measurement of it. */
export function predictMs(
  manifest: EmbedManifest,
  target: TargetName,
  sequences: readonly TokenIds[],
): number | undefined {
  const cost = manifest.targets[target]?.cost;
  const lengths = sequences.map(({ length }) => length);
  return cost && predictCost(cost, lengths);
}
