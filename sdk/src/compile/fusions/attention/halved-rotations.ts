import { MICROSOFT, type Value } from "../../graph/node.ts";
import type { HeadLayout } from "../../layout/heads.ts";
import type { Rewrite } from "../../rewrite/rule.ts";
import { headColumns, rotatesHeads } from "./head-columns.ts";
import { projectionOf } from "./projection.ts";

/**
 * Returns queries and keys whose heads are rotated in halves, if both were rotated in pairs of neighbors. Scores do not
 * change if the elements of queries and of keys change places in the same way. Here the columns of their weights do: the
 * first elements of all pairs, then the second ones. The edge engine rotates only halves.
 *
 * @returns undefined if a rotation is not of pairs, or not of a linear layer
 */
export function halvedRotations(
  rewrite: Rewrite,
  queries: HeadLayout,
  keys: HeadLayout,
): readonly [q: Value, k: Value] | undefined {
  if (![queries, keys].every(isPaired)) return undefined;
  const [q, k] = [queries, keys].map((layout) => {
    const { inputs = [], attributes = {} } = layout.source.producer ?? {};
    const { interleaved, ...others } = attributes;
    const [rotated, ...tables] = inputs;
    const columns = layout.columns.map((_, i) => layout.columns[beforeHalving(i, layout.size)] as number);
    const moved = headColumns(rewrite, { ...layout, source: rotated as Value, columns });
    return rewrite.add("RotaryEmbedding", [moved, ...tables], { domain: MICROSOFT, attributes: others }).output;
  });
  return q && k && [q, k];
}

function isPaired(layout: HeadLayout): boolean {
  const { producer: node } = layout.source;
  const [rotated] = node?.inputs ?? [];
  return (
    node?.int("interleaved") === 1 &&
    rotatesHeads(node, layout) &&
    rotated !== undefined &&
    projectionOf(rotated) !== undefined
  );
}

/** Returns the place of an element that comes to place `i`: 0 2 4 … 1 3 5 … in each head. */
function beforeHalving(i: number, size: number): number {
  const [start, at] = [i - (i % size), i % size];
  return start + (at < size / 2 ? 2 * at : 2 * at - size + 1);
}
