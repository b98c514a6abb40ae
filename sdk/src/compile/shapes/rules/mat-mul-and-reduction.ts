import { type Dim, dimProduct, type Shape } from "../../graph/dim.ts";
import type { Node } from "../../graph/node.ts";
import { dataTypeOf } from "../../onnx/tensor-proto.ts";
import {
  axesOf,
  broadcast,
  type KnownValue,
  normalizeAxis,
  type ShapeRule,
  type ShapeScope,
  singleOutput,
} from "../shape-rule.ts";
import { convolution, pooling } from "./convolution.ts";

const likeFirst: ShapeRule = singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape }));

/** Makes the shape rule of a reduction. The axes are an attribute or, in newer opsets, the second input. */
const reduce = (dtype?: KnownValue["dtype"]): ShapeRule =>
  singleOutput((node) => {
    const [x] = node.inputs;
    const shape = x?.shape;
    const keep = (node.int("keepdims") ?? 1) === 1;
    const given = node.ints("axes") || node.inputs[1] ? axesOf(node, 1) : [];
    if (!shape || !given) return { dtype: dtype ?? x?.dtype };
    const none = node.int("noop_with_empty_axes") === 1 ? [] : shape.map((_, i) => i);
    const axes = new Set(given.length > 0 ? given.map((axis) => normalizeAxis(axis, shape.length)) : none);
    const result = keep ? shape.map((dim, i) => (axes.has(i) ? 1 : dim)) : shape.filter((_, i) => !axes.has(i));
    const all = node.opType === "ReduceProd" && shape.length === 1 && axes.size === 1 && x?.content;
    return { dtype: dtype ?? x?.dtype, shape: result, content: all ? [dimProduct(all)] : undefined };
  });

const argReduce: ShapeRule = singleOutput((node) => {
  const shape = node.inputs[0]?.shape;
  const axis = normalizeAxis(node.int("axis") ?? 0, shape?.length ?? 0);
  const keep = (node.int("keepdims") ?? 1) === 1;
  return {
    dtype: "int64",
    shape: shape && (keep ? shape.map((dim, i) => (i === axis ? 1 : dim)) : shape.filter((_, i) => i !== axis)),
  };
});

export function matMulShape(a: Shape | undefined, b: Shape | undefined, scope: ShapeScope): Shape | undefined {
  if (!a || !b || a.length === 0 || b.length === 0) return undefined;
  const batch = broadcast([a.slice(0, -2), b.slice(0, -2)], scope) ?? [];
  const rows = a.length > 1 ? [a.at(-2) as Dim] : [];
  const columns = b.length > 1 ? [b.at(-1) as Dim] : [];
  return [...batch, ...rows, ...columns];
}

/** Makes the shape rule of a MatMul. By default, the output has the type of the first input. */
export const matMul = (dtype?: KnownValue["dtype"]): ShapeRule =>
  singleOutput(({ inputs: [a, b] }, scope) => ({
    dtype: dtype ?? a?.dtype,
    shape: matMulShape(a?.shape, b?.shape, scope),
  }));

/**
 * Infers the output of Einsum. Each letter of the equation stands for a size. The letters on the right are the output's
 * shape.
 */
function einsum(node: Node): KnownValue {
  const [left = "", right] = (node.string("equation") ?? "").replace(/\s/g, "").split("->");
  const sizes = new Map<string, Dim>();
  left.split(",").forEach((term, i) => {
    [...term].forEach((letter, axis) => {
      const size = node.inputs[i]?.shape?.[axis];
      if (size !== undefined) sizes.set(letter, size);
    });
  });
  const shape =
    right === undefined || `${left}${right}`.includes(".") ? undefined : [...right].map((letter) => sizes.get(letter));
  return { dtype: node.inputs[0]?.dtype, shape: shape?.includes(undefined) ? undefined : (shape as Shape | undefined) };
}

export const computeRules: Readonly<Record<string, ShapeRule>> = {
  MatMul: matMul(),
  MatMulInteger: matMul("int32"),
  QLinearMatMul: singleOutput(({ inputs: [a, , , b, , , , zero] }, scope) => ({
    dtype: zero?.dtype,
    shape: matMulShape(a?.shape, b?.shape, scope),
  })),
  Gemm: singleOutput((node) => {
    const [a, b] = node.inputs;
    const rows = a?.shape?.[node.int("transA") === 1 ? 1 : 0];
    const columns = b?.shape?.[node.int("transB") === 1 ? 0 : 1];
    return { dtype: a?.dtype, shape: rows !== undefined && columns !== undefined ? [rows, columns] : undefined };
  }),
  Einsum: singleOutput(einsum),
  Conv: convolution,
  AveragePool: pooling,
  MaxPool: pooling,
  Softmax: likeFirst,
  LogSoftmax: likeFirst,
  CumSum: likeFirst,
  Clip: likeFirst,
  BatchNormalization: likeFirst,
  LpNormalization: likeFirst,
  SimplifiedLayerNormalization: singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape })),
  LayerNormalization: (node) => {
    const [x] = node.inputs;
    const axis = normalizeAxis(node.int("axis") ?? -1, x?.shape?.length ?? 0);
    const statistics: KnownValue = { dtype: "float32", shape: x?.shape?.map((dim, i) => (i < axis ? dim : 1)) };
    return [{ dtype: x?.dtype, shape: x?.shape }, statistics, statistics];
  },
  RMSNormalization: likeFirst,
  RotaryEmbedding: likeFirst,
  OneHot: singleOutput((node) => {
    const [indices, depth, values] = node.inputs;
    const size = depth?.content?.[0];
    if (!indices?.shape || size === undefined) return { dtype: values?.dtype };
    const axis = normalizeAxis(node.int("axis") ?? -1, indices.shape.length + 1);
    return { dtype: values?.dtype, shape: indices.shape.toSpliced(axis, 0, size) };
  }),
  GlobalAveragePool: singleOutput(({ inputs: [x] }) => ({
    dtype: x?.dtype,
    shape: x?.shape?.map((dim, axis) => (axis < 2 ? dim : 1)),
  })),
  ReduceMean: reduce(),
  ReduceSum: reduce(),
  ReduceMax: reduce(),
  ReduceMin: reduce(),
  ReduceProd: reduce(),
  ReduceL1: reduce(),
  ReduceL2: reduce(),
  ReduceSumSquare: reduce(),
  ArgMax: argReduce,
  ArgMin: argReduce,
  QuantizeLinear: singleOutput((node) => ({
    dtype: node.inputs[2]?.dtype ?? dataTypeOf(node.int("output_dtype")) ?? "uint8",
    shape: node.inputs[0]?.shape,
  })),
  DequantizeLinear: singleOutput(({ inputs: [x, scale] }) => ({ dtype: scale?.dtype, shape: x?.shape })),
  DynamicQuantizeLinear: ({ inputs: [x] }) => [
    { dtype: "uint8", shape: x?.shape },
    { dtype: "float32", shape: [] },
    { dtype: "uint8", shape: [] },
  ],
  // Attention of opset 23. The rule supports only inputs with four axes.
  Attention: singleOutput(({ inputs: [q, , v] }) => ({
    dtype: q?.dtype,
    shape: q?.shape?.length === 4 && v?.shape?.length === 4 ? [...q.shape.slice(0, 3), v.shape[3] as Dim] : undefined,
  })),
};
