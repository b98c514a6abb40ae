import { type Dim, floorDivDims, mulDims, type Shape } from "../../graph/dim.ts";
import type { Value } from "../../graph/node.ts";
import { type ShapeRule, singleOutput } from "../shape-rule.ts";
import { matMul, matMulShape } from "./mat-mul-and-reduction.ts";

const likeFirst: ShapeRule = singleOutput(({ inputs: [x] }) => ({ dtype: x?.dtype, shape: x?.shape }));

/** Swaps the last two axes. */
const swapped = (shape: Shape): Shape => [...shape.slice(0, -2), ...shape.slice(-2).toReversed()];

/** The fourth output is the sum that is normalized. */
const skipNormalization: ShapeRule = ({ inputs: [x] }) => {
  const sum = { dtype: x?.dtype, shape: x?.shape };
  return [sum, {}, {}, sum];
};

/** Shape rules for operators of onnxruntime's own domain. */
export const microsoftRules: Readonly<Record<string, ShapeRule>> = {
  Gelu: likeFirst,
  BiasGelu: likeFirst,
  FastGelu: likeFirst,
  QuickGelu: likeFirst,
  RotaryEmbedding: likeFirst,
  SkipLayerNormalization: skipNormalization,
  SkipSimplifiedLayerNormalization: skipNormalization,
  EmbedLayerNormalization: ({ inputs: [ids, , table] }) => {
    const shape = ids?.shape && table?.shape && [...ids.shape, table.shape[1] as Dim];
    return [
      { dtype: table?.dtype, shape },
      { dtype: "int32", shape: ids?.shape?.slice(0, 1) },
      { dtype: table?.dtype, shape },
    ];
  },
  Attention: (node) => {
    const [x, weights] = node.inputs;
    const columns = weights?.shape?.[1];
    const width = node.ints("qkv_hidden_sizes")?.[2] ?? (columns === undefined ? undefined : floorDivDims(columns, 3));
    const shape = width !== undefined && x?.shape?.length === 3 ? [...x.shape.slice(0, 2), width] : undefined;
    return [{ dtype: x?.dtype, shape }];
  },
  MultiHeadAttention: ({ inputs: [q, , v] }) => {
    const shape =
      q?.shape?.length === 3 && v?.shape?.length === 3 ? [...q.shape.slice(0, 2), v.shape[2] as Dim] : undefined;
    return [{ dtype: q?.dtype, shape }];
  },
  QAttention: ({ inputs: [x, weights, , scale] }) => {
    const columns = weights?.shape?.[1];
    const shape =
      columns !== undefined && x?.shape?.length === 3 ? [...x.shape.slice(0, 2), floorDivDims(columns, 3)] : undefined;
    return [{ dtype: scale?.dtype, shape }];
  },
  FusedMatMul: singleOutput((node, scope) => {
    const [a, b] = node.inputs;
    const isBatchMoved = node.int("transBatchA") === 1 || node.int("transBatchB") === 1;
    const shapeOf = (value: Value | undefined, isTransposed: number | undefined) =>
      isTransposed === 1 ? value?.shape && swapped(value.shape) : value?.shape;
    const shape = isBatchMoved
      ? undefined
      : matMulShape(shapeOf(a, node.int("transA")), shapeOf(b, node.int("transB")), scope);
    return { dtype: a?.dtype, shape };
  }),
  DynamicQuantizeMatMul: matMul(),
  MatMulIntegerToFloat: matMul("float32"),
  // The table's elements have 4 or 8 bits. A uint8 holds two elements of 4 bits.
  GatherBlockQuantized: singleOutput((node) => {
    const [table, ids, scale] = node.inputs;
    const axis = node.int("gather_axis") ?? 0;
    const perByte = table?.dtype === "uint8" && (node.int("bits") ?? 4) === 4 ? 2 : 1;
    const sizes = table?.shape?.map((size, i, { length }) => (i === length - 1 ? mulDims(size, perByte) : size));
    const shape = sizes && ids?.shape && [...sizes.slice(0, axis), ...ids.shape, ...sizes.slice(axis + 1)];
    return { dtype: scale?.dtype, shape };
  }),
  // The weights have 2 to 8 bits, packed into bytes. The attribute N is the number of columns.
  MatMulNBits: singleOutput((node) => {
    const [x] = node.inputs;
    const columns = node.int("N");
    return {
      dtype: x?.dtype,
      shape: x?.shape && columns !== undefined ? [...x.shape.slice(0, -1), columns] : undefined,
    };
  }),
};
