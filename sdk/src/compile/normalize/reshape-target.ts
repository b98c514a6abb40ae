import { type Dim, type Shape, sameDim } from "../graph/dim.ts";
import { int64s, type Tensor } from "../graph/tensor.ts";

/**
 * Makes a constant target shape for a Reshape. A fixed size stays as it is. A symbolic size becomes 0 if `from` has the
 * same size on the same axis, and −1 otherwise.
 *
 * @returns undefined if more than one size would be −1, or if a fixed size is 0
 */
export function reshapeTarget(from: Shape, to: Shape): Tensor | undefined {
  let open = 0;
  const target = to.map((dim: Dim, i) => {
    if (typeof dim === "number") return dim;
    if (sameDim(dim, from[i])) return 0;
    open++;
    return -1;
  });
  // A fixed size of 0 cannot be written, because 0 means "unchanged".
  return open > 1 || to.includes(0) ? undefined : int64s(...target);
}
