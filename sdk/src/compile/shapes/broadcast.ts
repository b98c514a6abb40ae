import { type Dim, type Shape, sameDim, symbolOf } from "../graph/dim.ts";
import type { ShapeScope } from "./shape-rule.ts";

/**
 * Returns the shape that the shapes broadcast to; undefined if a shape is unknown. Assumes that two different symbols
 * on the same axis are equal. Models in which one of the two symbols is 1 at run time are not supported.
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
  // Two formulas can stand for the same size, such as `s` and `min(s, 512)`. Returns the shorter formula.
  return a.key.length <= b.key.length ? a : b;
}
