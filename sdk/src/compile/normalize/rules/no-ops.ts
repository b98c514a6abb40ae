import { sameShape } from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { type DataType, elementCount } from "../../graph/tensor.ts";
import { uniformValue } from "../../graph/tensor-math.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { normalizeAxis } from "../../shapes/shape-rule.ts";

const sameShaped = ({ inputs: [x], output }: Node) => (sameShape(x?.shape, output.shape) ? x : undefined);

const isIdentityPerm = (perm: readonly number[] | undefined) => perm?.every((axis, i) => axis === i) === true;

/** One function per operator. It returns the input that equals the node's output, or undefined if there is none. */
const unchangedInput: Readonly<Record<string, (node: Node) => Value | undefined>> = {
  Identity: ({ inputs }) => inputs[0],
  // Dropout changes nothing at inference. Its third input may select training.
  Dropout: ({ inputs: [x, , training], outputs: [, mask] }) =>
    mask?.users.size || (training && uniformOf(training) !== 0) ? undefined : x,
  Cast: (node) => {
    const [x] = node.inputs;
    const original = x?.producer?.is("Cast") ? x.producer.inputs[0] : undefined;
    if (x?.dtype !== undefined && x.dtype === node.output.dtype) return x;
    return original?.dtype !== undefined && original.dtype === node.output.dtype && holds(x?.dtype, original.dtype)
      ? original
      : undefined;
  },
  Reshape: sameShaped,
  Squeeze: sameShaped,
  Unsqueeze: sameShaped,
  Flatten: sameShaped,
  Expand: sameShaped,
  Tile: sameShaped,
  Slice: (node) => (isFromStart(node) ? sameShaped(node) : undefined),
  Concat: (node) => (node.inputs.length === 1 ? node.inputs[0] : rejoined(node)),
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

const uniformOf = (value: Value | undefined) => value && uniformValue(value);

const isFromStart = ({ inputs: [, starts, , , steps] }: Node) =>
  uniformOf(starts) === 0 && (!steps || (uniformOf(steps) ?? -1) > 0);

/** For each type, the types that can represent all its values. A Cast to such a type and back is lossless. */
const wider: Readonly<Partial<Record<DataType, readonly DataType[]>>> = {
  bool: ["uint8", "int8", "int32", "int64", "float16", "float32", "float64"],
  uint8: ["int32", "int64", "float16", "float32", "float64"],
  int8: ["int32", "int64", "float16", "float32", "float64"],
  int32: ["int64", "float64"],
  float16: ["float32", "float64"],
  bfloat16: ["float32", "float64"],
  float32: ["float64"],
};

const holds = (wide: DataType | undefined, narrow: DataType): boolean =>
  wide !== undefined && wider[narrow]?.includes(wide) === true;

/** If a Concat joins all parts of a Split again, returns the input of the Split. */
function rejoined(node: Node): Value | undefined {
  const split = node.inputs[0]?.producer;
  if (!split?.is("Split") || split.outputs.length !== node.inputs.length) return undefined;
  const [whole] = split.inputs;
  const rank = whole?.shape?.length;
  if (rank === undefined || node.inputs.some((part, i) => part !== split.outputs[i])) return undefined;
  const [from, to] = [split, node].map((each) => normalizeAxis(each.int("axis") ?? 0, rank));
  return from === to ? whole : undefined;
}

/**
 * Simplifies operations such as x + 0: returns x if the operand at one of `places` is the neutral element. Returns
 * undefined if there is no such operand, or if the output has another shape than x.
 *
 * Only a single number counts as the neutral element. A vector of neutral elements is a weight that fused operators
 * need, such as an untrained gamma or beta.
 */
function neutral(node: Node, element: number, places: readonly number[]): Value | undefined {
  const isNeutral = (value: Value | undefined) =>
    uniformOf(value) === element && elementCount(value?.constant?.shape ?? []) === 1;
  const at = places.find((place) => isNeutral(node.inputs[place]));
  const other = at === undefined ? undefined : node.inputs[1 - at];
  return sameShape(other?.shape, node.output.shape) ? other : undefined;
}

/**
 * Removes operators that do not change their input. Keeps an Identity whose output is an output of the graph and whose
 * input has other readers. Without this Identity, the input itself would be an output of the graph. onnxruntime 1.30
 * crashes when it fuses some operators that read such a value.
 */
export const noOpsRule: Rule = rule("no-op", {
  roots: Object.keys(unchangedInput),
  check({ graph, root }) {
    const same = unchangedInput[root.opType]?.(root);
    const separates = root.is("Identity") && graph.isOutput(root.output) && (same?.users.size ?? 0) > 1;
    return !separates && same;
  },
  rewrite: (_, same) => same,
});
