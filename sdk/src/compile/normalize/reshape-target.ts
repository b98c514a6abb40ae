import { type Dim, type Shape, sameDim } from "../graph/dim.ts";
import { int64s, type Tensor } from "../graph/tensor.ts";

/**
 * A constant target for a Reshape: sizes as they are, 0 where a symbolic size stays in place, −1 for one other. Undefined
 * when more than one symbolic size moves.
 */
export function reshapeTarget(from: Shape, to: Shape): Tensor | undefined {
  let open = 0;
  const target = to.map((dim: Dim, i) => {
    if (typeof dim === "number") return dim;
    if (sameDim(dim, from[i])) return 0;
    open++;
    return -1;
  });
  // 0 means "as it was", not "none"; with an open size, −1 beside a copied 0 is still determined.
  return open > 1 || to.includes(0) ? undefined : int64s(...target);
}
