import { ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import type { Rewrite } from "../rewrite/rule.ts";

/** Returns the order of axes in which the last two are swapped. */
export const lastAxesSwapped = (rank: number): number[] =>
  Array.from({ length: rank }, (_, i) => (i < rank - 2 ? i : 2 * rank - 3 - i));

/** Adds a Transpose that swaps the last two axes. The value's shape must be known. */
export const swapLastAxes = ({ add }: Rewrite, value: Value): Value =>
  add("Transpose", [value], { attributes: { perm: ints(...lastAxesSwapped(value.shape?.length ?? 0)) } }).output;
