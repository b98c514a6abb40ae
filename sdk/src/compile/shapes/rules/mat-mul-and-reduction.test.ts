import { describe, expect, it } from "vitest";
import { Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { compareWithOnnxruntime, type Draw, type OracleOptions } from "#test/oracles/shape-oracle.ts";
import type { Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import { inferShapes } from "../infer-shapes.ts";
import { computeRules } from "./mat-mul-and-reduction.ts";

const AGREES = { wrong: [], unknown: [] };

const x3 = (s: Sketch) => s.input("x", ["b", 3, "s"]);
const on =
  (opType: string, more: readonly number[][] = [], settings?: Record<string, SketchAttribute>): Draw =>
  (s) =>
    s.op(opType, [x3(s), ...more], settings);
const equation =
  (text: string, ...shapes: (string | number)[][]): Draw =>
  (s) => {
    const inputs = shapes.map((shape, i) => s.input(`x${i}`, shape));
    s.op("Einsum", inputs, { equation: text });
  };

/** Draws a Conv of x [b, 4, s]. */
const conv =
  (weight: readonly number[], settings?: Record<string, SketchAttribute>): Draw =>
  (s) =>
    s.op("Conv", [s.input("x", ["b", 4, "s"]), s.random(weight)], settings);

const bytes = (s: Sketch, ...values: number[]) => s.constant(tensor("uint8", [], Uint8Array.from(values)));

const oneHot = (s: Sketch, settings?: Record<string, SketchAttribute>) =>
  s.op("OneHot", [s.input("ids", ["b", "s"], "int64"), s.index(7), s.floats([2], [0, 1])], settings);

const reductions = Object.keys(computeRules).filter((opType) => opType.startsWith("Reduce"));
/** An opset in which the axes of reductions are attributes. */
const AXES_ATTRIBUTE: OracleOptions = { opset: 11 };
const AXES_INPUT: OracleOptions = { opset: 18 };

const INT16 = 5;

type Case = [opType: string, what: string, draw: Draw, options?: OracleOptions];
const cases: Case[] = [
  ["MatMul", "of matrices", (s) => s.op("MatMul", [s.input("x", ["s", 4]), s.random([4, 6])])],
  ["MatMul", "of stacks", (s) => s.op("MatMul", [s.input("x", ["b", 1, "s", 4]), s.input("y", [2, 4, "s"])])],
  ["MatMul", "of a vector and matrices", (s) => s.op("MatMul", [s.input("x", [4]), s.input("y", ["b", 4, 5])])],
  ["MatMul", "of matrices and a vector", (s) => s.op("MatMul", [s.input("x", ["b", "s", 4]), s.input("y", [4])])],
  ["MatMul", "of vectors", (s) => s.op("MatMul", [s.input("x", [4]), s.input("y", [4])])],
  [
    "MatMulInteger",
    "",
    (s) => s.op("MatMulInteger", [s.input("x", ["b", "s", 4], "uint8"), s.input("y", [4, 6], "int8")]),
  ],
  [
    "QLinearMatMul",
    "",
    (s) => {
      const [scale, zero] = [s.floats([], [1]), bytes(s, 128)];
      const [x, y] = [s.input("x", ["b", "s", 4], "uint8"), s.input("y", [4, 6], "uint8")];
      s.op("QLinearMatMul", [x, scale, zero, y, scale, zero, scale, zero]);
    },
  ],
  ["Gemm", "", (s) => s.op("Gemm", [s.input("x", ["b", 4]), s.random([4, 6]), s.random([6])])],
  [
    "Gemm",
    "of transposed matrices",
    (s) => s.op("Gemm", [s.input("x", [4, "b"]), s.random([6, 4])], { transA: 1, transB: 1 }),
  ],
  ["Einsum", "of heads", equation("bshd, bthd -> bhst", ["b", "s", 2, 4], ["b", "s", 2, 4])],
  ["Einsum", "summing all", equation("ij->", ["b", "s"])],
  ["Einsum", "of a diagonal", equation("ii->i", ["s", "s"])],

  ["Conv", "with a kernel of 1", conv([5, 4, 1])],
  ["Conv", "with groups and padding", conv([6, 2, 3], { group: 2, pads: [1, 1] })],
  [
    "Conv",
    "with steps, padding at the end and dilation",
    conv([5, 4, 2], { strides: [3], pads: [0, 4], dilations: [2] }),
  ],
  ["Conv", "that pads to the same size", conv([5, 4, 2], { auto_pad: "SAME_UPPER", strides: [2] })],
  ["Conv", "that does not pad", conv([5, 4, 3], { auto_pad: "VALID" })],
  ["Conv", "over two axes", (s) => s.op("Conv", [s.input("x", ["b", 2, 7, "s"]), s.random([3, 2, 3, 2])])],
  ...["AveragePool", "MaxPool"].flatMap((opType): Case[] => [
    [opType, "of pairs", on(opType, [], { kernel_shape: [2], strides: [2] })],
    [opType, "of pairs and the rest", on(opType, [], { kernel_shape: [2], strides: [2], ceil_mode: 1 })],
    [opType, "with padding", on(opType, [], { kernel_shape: [3], pads: [1, 1] })],
  ]),

  ...["Softmax", "LogSoftmax", "LpNormalization", "Clip"].map((opType): Case => [opType, "", on(opType)]),
  ["CumSum", "", (s) => s.op("CumSum", [x3(s), s.index(-1)])],
  ["BatchNormalization", "", (s) => s.op("BatchNormalization", [x3(s), ...[1, 2, 3, 4].map(() => s.random([3], 1))])],
  ["GlobalAveragePool", "", on("GlobalAveragePool")],
  [
    "LayerNormalization",
    "with statistics",
    (s) => {
      const x = s.input("x", ["b", "s", 4]);
      s.node("LayerNormalization", [x, s.random([4])], {}, { outputs: ["y", "mean", "deviation"] });
    },
  ],
  [
    "SimplifiedLayerNormalization",
    "",
    (s) => s.op("SimplifiedLayerNormalization", [s.input("x", ["b", "s", 4]), s.random([4])], { axis: -1 }),
  ],
  [
    "LayerNormalization",
    "over two axes",
    (s) => {
      const x = s.input("x", ["b", 5, 4]);
      s.node("LayerNormalization", [x, s.random([5, 4])], { axis: -2 }, { outputs: ["y", "mean", "deviation"] });
    },
  ],
  [
    "RotaryEmbedding",
    "",
    (s) =>
      s.op("RotaryEmbedding", [
        s.input("x", ["b", 2, "s", 4]),
        s.input("c", ["b", "s", 2]),
        s.input("d", ["b", "s", 2]),
      ]),
    { opset: 23 },
  ],
  [
    "RMSNormalization",
    "",
    (s) => s.op("RMSNormalization", [s.input("x", ["b", "s", 4]), s.random([4])]),
    { opset: 23 },
  ],

  ...reductions.flatMap((opType): Case[] => [
    [opType, "over all axes", on(opType)],
    [opType, "over an axis of an attribute", on(opType, [], { axes: [-1], keepdims: 0 }), AXES_ATTRIBUTE],
    [opType, "over axes of an attribute", on(opType, [], { axes: [0, 2] }), AXES_ATTRIBUTE],
    [opType, "over axes of an input", on(opType, [[-1, 1]], { keepdims: 0 }), AXES_INPUT],
    [opType, "over no axes, which are all", on(opType, [[]], { keepdims: 0 }), AXES_INPUT],
    [opType, "over no axes, which are none", on(opType, [[]], { noop_with_empty_axes: 1 }), AXES_INPUT],
    [opType, "over absent axes, which are none", on(opType, [], { noop_with_empty_axes: 1 }), AXES_INPUT],
  ]),
  ["ReduceProd", "of sizes", (s) => s.op("ReduceProd", [s.op("Shape", [x3(s)])], { keepdims: 0 })],
  [
    "ReduceProd",
    "of sizes over no axes",
    (s) => s.op("ReduceProd", [s.op("Shape", [x3(s)])], { noop_with_empty_axes: 1 }),
    AXES_INPUT,
  ],
  ...["ArgMax", "ArgMin"].flatMap((opType): Case[] => [
    [opType, "by default", on(opType)],
    [opType, "over the last axis", on(opType, [], { axis: -1, keepdims: 0 })],
  ]),

  ["OneHot", "along a new last axis", (s) => oneHot(s)],
  ["OneHot", "along another", (s) => oneHot(s, { axis: 0 })],
  ["OneHot", "before the last", (s) => oneHot(s, { axis: -2 })],

  ["QuantizeLinear", "to uint8 by default", (s) => s.op("QuantizeLinear", [x3(s), 1])],
  [
    "QuantizeLinear",
    "to the type of the zero point",
    (s) => s.op("QuantizeLinear", [x3(s), 1, s.input("zero", [], "int8")]),
  ],
  [
    "QuantizeLinear",
    "to the requested type",
    (s) => s.op("QuantizeLinear", [x3(s), 1], { output_dtype: INT16 }),
    { opset: 21 },
  ],
  ["DequantizeLinear", "", (s) => s.op("DequantizeLinear", [s.input("x", ["b", "s"], "int8"), 1])],
  [
    "DynamicQuantizeLinear",
    "",
    (s) => s.node("DynamicQuantizeLinear", [x3(s)], {}, { outputs: ["y", "scale", "zero"] }),
  ],
  [
    "Attention",
    "of heads",
    (s) => {
      const [q, k, v] = [s.input("q", ["b", 2, "s", 4]), s.input("k", ["b", 2, 7, 4]), s.input("v", ["b", 2, 7, 6])];
      s.op("Attention", [q, k, v]);
    },
    { opset: 23 },
  ],
];

describe("rules of MatMul and reductions", () => {
  it.each(cases)("%s %s", async (_, __, draw, options) => {
    expect(await compareWithOnnxruntime(draw, options)).toEqual(AGREES);
  });

  it("are all compared with onnxruntime", () => {
    expect(new Set(cases.map(([opType]) => opType))).toEqual(new Set(Object.keys(computeRules)));
  });

  it.each<[string, (s: Sketch) => Value]>([
    ["a reduction over axes from an input", (s) => s.op("ReduceSum", [x3(s), s.input("axes", [1], "int64")])],
    ["an equation with an ellipsis", (s) => s.op("Einsum", [s.input("x", ["b", 3])], { equation: "...i->i" })],
    ["an equation without a right side", (s) => s.op("Einsum", [s.input("x", ["b", 3])], { equation: "ij" })],
    ["a MatMul with a scalar", (s) => s.op("MatMul", [s.input("x", []), s.input("y", [3, 3])])],
  ])("do not know the shape of %s", (_, draw) => {
    const s = new Sketch(18);
    const value = draw(s);
    inferShapes(s.graph);
    expect(value.shape).toBeUndefined();
  });
});
