import type { Dim, Shape } from "../graph/dim.ts";
import type { Node, Value } from "../graph/node.ts";
import type { DataType } from "../graph/tensor.ts";

/** What is known of a node's result. */
export interface KnownValue {
  readonly dtype?: DataType | undefined;
  readonly shape?: Shape | undefined;
  readonly content?: readonly Dim[] | undefined;
}

export interface ShapeScope {
  /** Version of the node's operator set. */
  readonly opset: number;
  /** A size of which nothing is known, by a name that says whose it is. */
  unknown(): Dim;
  /** Notes that two symbols must be equal for the node to run, and returns one of them. */
  equate(a: string, b: string): Dim;
}

/** What an operator's results are, from what its inputs are; one entry an output. */
export type ShapeRule = (node: Node, scope: ShapeScope) => readonly KnownValue[];

/** An operator with one result. */
export const singleOutput =
  (rule: (node: Node, scope: ShapeScope) => KnownValue): ShapeRule =>
  (node, scope) => [rule(node, scope)];

/** `content` of more elements is not followed: it is data, not a shape. */
export const MAX_CONTENT = 64;

export const normalizeAxis = (axis: number, rank: number): number => (axis < 0 ? axis + rank : axis);

/** The elements of a value that are known as plain numbers. */
export function knownNumbers(value: Value | undefined): readonly number[] | undefined {
  const content = value?.content;
  return content?.every((element) => typeof element === "number") ? (content as readonly number[]) : undefined;
}

/** Axes, which older operator versions take as an attribute and newer ones as an input. */
export const axesOf = (node: Node, input: number): readonly number[] | undefined =>
  node.ints("axes") ?? knownNumbers(node.inputs[input]);
