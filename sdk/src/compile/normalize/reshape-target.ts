import { type Dim, type Shape, sameDim } from "../graph/dim.ts";
import { int64s, type Tensor } from "../graph/tensor.ts";

/**
 * Makes a constant target for a Reshape. Contains fixed sizes, 0 for a symbolic size that keeps its axis, and −1 for at
 * most one other symbolic size. Returns undefined if there are more.
 */
export function reshapeTarget(from: Shape, to: Shape): Tensor | undefined {
  let open = 0;
  const target = to.map((dim: Dim, i) => {
    if (typeof dim === "number") return dim;
    if (sameDim(dim, from[i])) return 0;
    open++;
    return -1;
  });
  // An actual size of 0 cannot be written, because 0 means "unchanged".
  return open > 1 || to.includes(0) ? undefined : int64s(...target);
}
