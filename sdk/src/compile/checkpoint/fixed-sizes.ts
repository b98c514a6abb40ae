import { type FixedSizes, fixedSizes } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";

/** Returns the sizes that a graph's token ids always have; undefined if it takes any. */
export function fixedIn(graph: Graph): FixedSizes | undefined {
  const fixed = fixedSizes(graph);
  return fixed.texts === undefined && fixed.tokens === undefined ? undefined : fixed;
}

/** Describes the fixed sizes of an input, such as "1 × 128". */
export const sizesIn = (sizes: readonly unknown[] = []): string =>
  sizes.map((size) => (typeof size === "number" ? size : "…")).join(" × ");
