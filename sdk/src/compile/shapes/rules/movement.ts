import {
  addDims,
  type Dim,
  dimProduct,
  divideDimsExactly,
  floorDivDims,
  isStatic,
  mulDims,
  type Shape,
  subDims,
} from "../../graph/dim.ts";
import type { Node, Value } from "../../graph/node.ts";
import { elementCount, isInteger, numbersOf } from "../../graph/tensor.ts";
import { uniformValue } from "../../graph/tensor-math.ts";
import { axesOf, knownNumbers, MAX_CONTENT, normalizeAxis, type ShapeRule, singleOutput } from "../shape-rule.ts";
import { sliceContent, sliceExtent } from "../slice-extent.ts";

/** Shape rules for operators that move or repeat elements, and for Shape, Size and Range. */
export const movementRules: Readonly<Record<string, ShapeRule>> = {
  Shape: singleOutput((node) => {
    const shape = node.inputs[0]?.shape;
    const content = shape?.slice(node.int("start") ?? 0, node.int("end") ?? shape.length);
    return { dtype: "int64", shape: content && [content.length], content };
  }),
  Size: singleOutput(({ inputs: [x] }) => ({ dtype: "int64", shape: [], content: x?.shape && [dimProduct(x.shape)] })),

  Reshape: singleOutput((node, scope) => {
    const [x, target] = node.inputs;
    const shape =
      reshaped(x?.shape, target?.content, node.int("allowzero") === 1) ?? unknownOfRank(node, scope.unknown);
    return { dtype: x?.dtype, shape, content: shape && shape.length <= 1 ? x?.content : undefined };
  }),
  Flatten: singleOutput((node) => {
    const [x] = node.inputs;
    const axis = normalizeAxis(node.int("axis") ?? 1, x?.shape?.length ?? 0);
    return {
      dtype: x?.dtype,
      shape: x?.shape && [dimProduct(x.shape.slice(0, axis)), dimProduct(x.shape.slice(axis))],
    };
  }),
  Transpose: singleOutput((node) => {
    const [x] = node.inputs;
    const perm = node.ints("perm") ?? x?.shape?.map((_, i, { length }) => length - 1 - i);
    return { dtype: x?.dtype, shape: x?.shape && perm?.map((axis) => x.shape?.[axis] ?? 1) };
  }),
  Unsqueeze: singleOutput((node) => {
    const [x] = node.inputs;
    const axes = axesOf(node, 1);
    if (!x?.shape || !axes) return { dtype: x?.dtype };
    const rank = x.shape.length + axes.length;
    const inserted = new Set(axes.map((axis) => normalizeAxis(axis, rank)));
    const rest = [...x.shape];
    const shape = Array.from({ length: rank }, (_, i) => (inserted.has(i) ? 1 : (rest.shift() ?? 1)));
    return { dtype: x.dtype, shape, content: rank <= 1 ? x.content : undefined };
  }),
  Squeeze: singleOutput((node) => {
    const [x] = node.inputs;
    if (!x?.shape) return { dtype: x?.dtype };
    const given = node.ints("axes") || node.inputs[1] ? axesOf(node, 1) : onesOf(x.shape);
    const axes = given?.map((axis) => normalizeAxis(axis, x.shape?.length ?? 0));
    return { dtype: x.dtype, shape: axes && x.shape.filter((_, i) => !axes.includes(i)), content: x.content };
  }),
  Expand: singleOutput((node, scope) => {
    const [x, target] = node.inputs;
    const shape = x?.shape && target?.content && expanded(x.shape, target.content);
    const content = shape?.length === 1 && x?.content?.length === 1 ? repeat(x.content[0], shape[0]) : undefined;
    return { dtype: x?.dtype, shape: shape ?? unknownOfRank(node, scope.unknown), content };
  }),
  Tile: singleOutput(({ inputs: [x, repeats] }) => ({
    dtype: x?.dtype,
    shape: repeats?.content && x?.shape?.map((dim, i) => mulDims(dim, repeats.content?.[i] ?? 1)),
  })),
  Concat: singleOutput((node) => {
    const { inputs } = node;
    const dtype = inputs[0]?.dtype;
    const shapes = inputs.map((input) => input?.shape);
    const first = shapes[0];
    if (!first || shapes.includes(undefined)) return { dtype };
    const axis = normalizeAxis(node.int("axis") ?? 0, first.length);
    const shape = first.map((dim, i) => (i === axis ? shapes.map((each) => each?.[axis] ?? 0).reduce(addDims) : dim));
    const contents = inputs.map((input) => input?.content);
    const whole = first.length === 1 && !contents.includes(undefined);
    return { dtype, shape, content: whole ? contents.flatMap((content) => content ?? []) : undefined };
  }),
  Slice: singleOutput((node) => {
    const [x] = node.inputs;
    const shape = x?.shape;
    const [starts, ends, axes, steps] = [1, 2, 3, 4].map((i) => node.inputs[i]?.content);
    if (!shape || !starts || !ends || (node.inputs[3] && !axes) || (node.inputs[4] && !steps))
      return { dtype: x?.dtype };
    const result = [...shape];
    let content = x.content;
    for (const [i, start] of starts.entries()) {
      const at = axes?.[i] ?? i;
      if (typeof at !== "number") return { dtype: x.dtype };
      const axis = normalizeAxis(at, shape.length);
      const [end = 0, step = 1, size] = [ends[i], steps?.[i], shape[axis]];
      const extent = size === undefined ? undefined : sliceExtent(size, start, end, step);
      if (extent === undefined) return { dtype: x.dtype };
      result[axis] = extent;
      if (content) content = sliceContent(content, start, end, step);
    }
    return { dtype: x.dtype, shape: result, content };
  }),
  Split: (node) => {
    const [x] = node.inputs;
    const shape = x?.shape;
    const count = node.outputs.length;
    const axis = normalizeAxis(node.int("axis") ?? 0, shape?.length ?? 0);
    const size = shape?.[axis];
    const even = typeof size === "number" ? Math.ceil(size / count) : undefined;
    const given = node.inputs[1] ? knownNumbers(node.inputs[1]) : node.ints("split");
    const sizes = given ?? (even === undefined || node.inputs[1] ? undefined : evenSizes(size as number, even, count));
    return node.outputs.map((_, part) => ({
      dtype: x?.dtype,
      shape: shape && sizes ? shape.map((dim, i) => (i === axis ? (sizes[part] ?? 0) : dim)) : undefined,
    }));
  },
  Gather: singleOutput((node) => {
    const [x, indices] = node.inputs;
    const axis = normalizeAxis(node.int("axis") ?? 0, x?.shape?.length ?? 0);
    const at = knownNumbers(indices);
    const shape = x?.shape &&
      indices?.shape && [...x.shape.slice(0, axis), ...indices.shape, ...x.shape.slice(axis + 1)];
    const elements = x?.shape?.length === 1 ? at?.map((i) => x.content?.at(i)) : undefined;
    const content = elements?.every((element) => element !== undefined) ? (elements as Dim[]) : undefined;
    return { dtype: x?.dtype, shape, content };
  }),
  GatherElements: singleOutput(({ inputs: [x, indices] }) => ({ dtype: x?.dtype, shape: indices?.shape })),
  GatherND: singleOutput((node) => {
    const [x, indices] = node.inputs;
    const batch = node.int("batch_dims") ?? 0;
    const last = indices?.shape?.at(-1);
    if (!x?.shape || !indices?.shape || typeof last !== "number") return { dtype: x?.dtype };
    return { dtype: x.dtype, shape: [...indices.shape.slice(0, -1), ...x.shape.slice(batch + last)] };
  }),
  ScatterND: singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape })),
  ScatterElements: singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape })),
  Trilu: singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape })),
  Dropout: (node) => [
    { dtype: node.inputs[0]?.dtype, shape: node.inputs[0]?.shape, content: node.inputs[0]?.content },
    { dtype: "bool", shape: node.inputs[0]?.shape },
  ],
  Pad: singleOutput((node) => {
    const [x, pads] = node.inputs;
    const amounts = node.ints("pads") ?? knownNumbers(pads);
    if (!x?.shape || !amounts || amounts.length !== 2 * x.shape.length || node.inputs[3]) return { dtype: x?.dtype };
    const rank = x.shape.length;
    return {
      dtype: x.dtype,
      shape: x.shape.map((dim, i) => addDims(dim, (amounts[i] ?? 0) + (amounts[i + rank] ?? 0))),
    };
  }),
  ConstantOfShape: singleOutput((node) => {
    const [target] = node.inputs;
    const value = node.attributes["value"];
    const fill = value?.kind === "tensor" ? value.value : undefined;
    const dtype = fill?.dtype ?? "float32";
    const element = fill && isInteger(dtype) && elementCount(fill.shape) === 1 ? numbersOf(fill)[0] : undefined;
    const content = target?.content?.length === 1 ? repeat(element, target.content[0]) : undefined;
    return { dtype, shape: target?.content, content };
  }),
  Range: singleOutput(({ inputs: [start, limit, delta] }) => {
    const [from, to, step] = [start, limit, delta].map(wholeNumber);
    if (from === undefined || to === undefined || typeof step !== "number" || step <= 0) return { dtype: start?.dtype };
    const length = step === 1 ? subDims(to, from) : floorDivDims(addDims(subDims(to, from), step - 1), step);
    const content =
      isInteger(start?.dtype) && typeof length === "number" && length <= MAX_CONTENT
        ? Array.from({ length: Math.max(0, length) }, (_, i) => addDims(from, i * step))
        : undefined;
    return { dtype: start?.dtype, shape: [length], content };
  }),
};

/** Returns the scalar in a value if it is a known size or integer, even if it is stored as a float or cast to a float. */
function wholeNumber(value: Value | undefined): Dim | undefined {
  const cast = value?.producer?.is("Cast") ? value.producer.inputs[0] : undefined;
  const [known] = value?.content ?? cast?.content ?? [];
  const fixed = value && uniformValue(value);
  return known ?? (Number.isSafeInteger(fixed) ? fixed : undefined);
}

/** Returns the output shape of a Reshape; undefined if the target is unknown or does not fit. */
function reshaped(from: Shape | undefined, target: readonly Dim[] | undefined, allowZero: boolean): Shape | undefined {
  if (!target) return undefined;
  const dims = target.map((dim, i) => (dim === 0 && !allowZero ? from?.[i] : dim));
  const open = dims.indexOf(-1);
  if (dims.includes(undefined)) return undefined;
  if (open < 0) return dims as Shape;
  const rest = dimProduct((dims as Shape).filter((_, i) => i !== open));
  const size = from && (rest === 0 ? 0 : divideDimsExactly(dimProduct(from), rest));
  return size === undefined ? undefined : (dims as Shape).map((dim, i) => (i === open ? size : dim));
}

/**
 * Returns a shape with only unknown sizes. The second input is the target shape, so the result has one axis for each
 * of its elements.
 */
function unknownOfRank({ inputs }: Node, unknown: () => Dim): Shape | undefined {
  const rank = inputs[1]?.shape?.[0];
  return typeof rank === "number" && rank <= MAX_CONTENT && inputs[1]?.shape?.length === 1
    ? Array.from({ length: rank }, unknown)
    : undefined;
}

function expanded(from: Shape, target: readonly Dim[]): Shape {
  const rank = Math.max(from.length, target.length);
  return Array.from({ length: rank }, (_, i) => {
    const [a, b] = [from[i - rank + from.length] ?? 1, target[i - rank + target.length] ?? 1];
    return b === 1 ? a : a === 1 ? b : typeof a === "number" ? a : b;
  });
}

/** Returns the axes of size 1; undefined if a size is dynamic. */
const onesOf = (shape: Shape): readonly number[] | undefined =>
  isStatic(shape) ? shape.flatMap((size, axis) => (size === 1 ? [axis] : [])) : undefined;

const repeat = (element: Dim | undefined, count: Dim | undefined): readonly Dim[] | undefined =>
  element !== undefined && typeof count === "number" && count >= 0 && count <= MAX_CONTENT
    ? Array.from({ length: count }, () => element)
    : undefined;

const evenSizes = (size: number, even: number, count: number) =>
  Array.from({ length: count }, (_, i) => Math.max(0, Math.min(even, size - i * even)));
