import { type Dim, type Shape, sameDim, symbolOf } from "../graph/dim.ts";
import type { ShapeScope } from "./shape-rule.ts";

/**
 * The shape of an elementwise result. Two different symbols are taken to be one size, because the model adds tensors of
 * those sizes element by element: that they could differ by one being 1 is left to the unoptimized model.
 */
export function broadcast(shapes: readonly (Shape | undefined)[], scope: ShapeScope): Shape | undefined {
  const known = shapes.filter((shape) => shape !== undefined);
  if (known.length < shapes.length) return undefined;
  const rank = Math.max(0, ...known.map((shape) => shape.length));
  return Array.from({ length: rank }, (_, axis) =>
    known.map((shape) => shape[axis - rank + shape.length] ?? 1).reduce((a, b) => broadcastDim(a, b, scope)),
  );
}

function broadcastDim(a: Dim, b: Dim, scope: ShapeScope): Dim {
  if (sameDim(a, b) || b === 1) return a;
  if (a === 1) return b;
  if (typeof a === "number") return a;
  if (typeof b === "number") return b;
  const [left, right] = [symbolOf(a), symbolOf(b)];
  if (left !== undefined && right !== undefined) return scope.equate(left, right);
  // One is a function of the other's symbols, such as a length and its clamped twin: the simpler one says more.
  return a.key.length <= b.key.length ? a : b;
}
