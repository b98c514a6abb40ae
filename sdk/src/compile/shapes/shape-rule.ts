import { type Dim, type Shape, sameDim, symbolOf } from "../graph/dim.ts";
import type { Node, Value } from "../graph/node.ts";
import type { DataType } from "../graph/tensor.ts";

/** The known properties of an output. */
export interface KnownValue {
  readonly dtype?: DataType | undefined;
  readonly shape?: Shape | undefined;
  readonly content?: readonly Dim[] | undefined;
}

export interface ShapeScope {
  /** Version of the node's operator set. */
  readonly opset: number;
  /** Creates a symbol for an unknown size, named after the node's output. */
  unknown(): Dim;
  /** Records that two symbols must be equal, and returns the symbol to use for both. */
  equate(a: string, b: string): Dim;
}

/** Infers the outputs of a node from its inputs: one entry per output. */
export type ShapeRule = (node: Node, scope: ShapeScope) => readonly KnownValue[];

/** Makes a shape rule for operators with one output. */
export const singleOutput =
  (rule: (node: Node, scope: ShapeScope) => KnownValue): ShapeRule =>
  (node, scope) => [rule(node, scope)];

/** Maximum elements of `content`. Longer vectors are data, not shapes. */
export const MAX_CONTENT = 64;

export const normalizeAxis = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

/** Returns the elements of a value if all are known numbers. */
export function knownNumbers(value: Value | undefined): readonly number[] | undefined {
  const content = value?.content;
  return content?.every((element) => typeof element === "number") ? (content as readonly number[]) : undefined;
}

/**
 * Returns a node's axes. In older opsets, the axes are an attribute of the operator. In newer opsets, they are the
 * input with the index `input`.
 */
export const axesOf = (node: Node, input: number): readonly number[] | undefined =>
  node.ints("axes") ?? knownNumbers(node.inputs[input]);

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
