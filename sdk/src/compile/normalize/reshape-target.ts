import { type Dim, type Shape, sameDim } from "../graph/dim.ts";
import { int64s, type Tensor } from "../graph/tensor.ts";

/**
 * Makes a constant target for a Reshape. It contains the fixed sizes, 0 for each symbolic size that is on the same axis
 * in `from`, and −1 for one other symbolic size. Returns undefined if there are several others.
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
