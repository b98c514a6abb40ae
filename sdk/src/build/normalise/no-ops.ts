import { sameShape } from "../graph/dim.ts";
import type { Node, Value } from "../graph/graph.ts";
import { elementCount } from "../graph/tensor.ts";
import { uniform } from "../rewrite/match.ts";
import { type Rule, rule } from "../rewrite/rule.ts";

const keepsShape = (node: Node) => sameShape(node.inputs[0]?.shape, node.output.shape);

const isIdentityPerm = (perm: readonly number[] | undefined) => perm?.every((axis, i) => axis === i) === true;

/** For each operator, the input that its output equals; undefined where it does something. */
const passed: Readonly<Record<string, (node: Node) => Value | undefined>> = {
  Identity: ({ inputs }) => inputs[0],
  // At inference; in training mode it is a third input that says so.
  Dropout: (node) => (node.outputs[1]?.users.size || uniformOf(node.inputs[2]) === 1 ? undefined : node.inputs[0]),
  Cast: (node) =>
    node.inputs[0]?.dtype !== undefined && node.inputs[0].dtype === node.output.dtype ? node.inputs[0] : undefined,
  Reshape: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Squeeze: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Unsqueeze: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Flatten: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Expand: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Tile: (node) => (keepsShape(node) ? node.inputs[0] : undefined),
  Slice: (node) => (keepsShape(node) && forwards(node) ? node.inputs[0] : undefined),
  Concat: (node) => (node.inputs.length === 1 ? node.inputs[0] : undefined),
  Transpose: (node) => (isIdentityPerm(node.ints("perm")) ? node.inputs[0] : undefined),
  Add: (node) => neutral(node, 0, [0, 1]),
  Sub: (node) => neutral(node, 0, [1]),
  Mul: (node) => neutral(node, 1, [0, 1]),
  Div: (node) => neutral(node, 1, [1]),
  And: (node) => neutral(node, 1, [0, 1]),
  Or: (node) => neutral(node, 0, [0, 1]),
  Where: (node) => {
    const [condition, yes, no] = node.inputs;
    const chosen = uniformOf(condition) === 1 ? yes : uniformOf(condition) === 0 ? no : undefined;
    return sameShape(chosen?.shape, node.output.shape) ? chosen : undefined;
  },
};

const uniformOf = (value: Value | undefined) => value && uniform(value);

const forwards = (node: Node) => !node.inputs[4] || (uniformOf(node.inputs[4]) ?? -1) > 0;

/**
 * The other operand, when the one at `places` is exactly the neutral element and does not widen the shape. A vector of them
 * is a weight that happens to be so, as gains and offsets are before training: fused operators take it as it is.
 */
function neutral(node: Node, element: number, places: readonly number[]): Value | undefined {
  const isNeutral = (value: Value | undefined) =>
    uniformOf(value) === element && elementCount(value?.constant?.shape ?? []) === 1;
  const at = places.find((place) => isNeutral(node.inputs[place]));
  const other = at === undefined ? undefined : node.inputs[1 - at];
  return sameShape(other?.shape, node.output.shape) ? other : undefined;
}

/** Operators that pass their input on unchanged: exporters leave many behind. */
export const noOps: Rule = rule("no-op", {
  roots: Object.keys(passed),
  rewrite: ({ root }) => passed[root.opType]?.(root),
});
