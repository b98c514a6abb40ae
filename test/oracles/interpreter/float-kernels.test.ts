import { describe, expect, it } from "vitest";
import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { MICROSOFT, type Node, type Value } from "#sdk/compile/graph/node.ts";
import { elementCount, numbersOf, type Tensor, tensor, toFloat32 } from "#sdk/compile/graph/tensor.ts";
import { kernelSupports } from "#sdk/compile/lower/kernel-supports.ts";
import { refusal } from "../../fixtures/refusal.ts";
import { randomNumbers } from "../../fixtures/seeded.ts";
import { Sketch, type SketchAttribute } from "../../fixtures/sketch.ts";
import { integerProduct } from "../reference/integer-product.ts";
import { runGraph } from "../run-graph.ts";
import type { Tensors } from "../run-model.ts";
import { floatKernels } from "./float-kernels.ts";
import type { KernelOutputs, NodeTensor } from "./node-kernel.ts";

/**
 * Tolerance: relative for results above 1, absolute for smaller results. onnxruntime and the reference kernels add
 * numbers in different orders. Measured: at most 1.3 · 10⁻⁶.
 */
const FLOAT32_ROUNDING = 3e-6;
/** Tolerance for GELU, whose Φ is approximated by a polynomial (see activation.ts). */
const GELU_TOLERANCE = 9e-5;

/** First opset with Gelu. */
const OPSET = 20;
const [TOKENS, WIDTH] = [5, 8];
const X = [1, TOKENS, WIDTH] as const;

/** Adds a node that reads x [1, tokens, width] and may have other inputs. */
type Draw = (s: Sketch, x: Value) => Node;
const unary =
  (opType: string, domain = "", settings: Record<string, SketchAttribute> = {}): Draw =>
  (s, x) =>
    s.node(opType, [x], settings, { domain });
const withBias =
  (opType: string): Draw =>
  (s, x) =>
    s.node(opType, [x, s.random([WIDTH])], {}, { domain: MICROSOFT });
const other = (s: Sketch) => s.input("other", X);
const sizes = (...all: number[]) => all;
const rotary = (s: Sketch, x: Value, settings: Record<string, SketchAttribute> = {}) =>
  s.node(
    "RotaryEmbedding",
    [x, sizes(0), s.random([TOKENS, 2]), s.random([TOKENS, 2])],
    { num_heads: 2, ...settings },
    { domain: MICROSOFT },
  );

const cases: Record<string, Draw> = {
  "Add of two tensors": (s, x) => s.node("Add", [x, other(s)]),
  "Add of a bias": (s, x) => s.node("Add", [s.random([WIDTH]), x]),
  "Add of one number": (s, x) => s.node("Add", [x, 0.3]),
  "Add of positions": (s, x) => s.node("Add", [x, s.random([TOKENS, WIDTH])]),
  "Mul of two tensors": (s, x) => s.node("Mul", [x, other(s)]),
  "Mul by a tensor with leading dimensions of size 1": (s, x) => s.node("Mul", [x, s.random([1, 1, WIDTH])]),
  Relu: unary("Relu"),
  Tanh: unary("Tanh"),
  Sigmoid: unary("Sigmoid"),
  Gelu: unary("Gelu"),
  "Gelu by tanh": unary("Gelu", "", { approximate: "tanh" }),
  "onnxruntime's Gelu": unary("Gelu", MICROSOFT),
  BiasGelu: withBias("BiasGelu"),
  FastGelu: unary("FastGelu", MICROSOFT),
  "FastGelu with a bias": withBias("FastGelu"),
  QuickGelu: unary("QuickGelu", MICROSOFT),
  "QuickGelu with another factor": unary("QuickGelu", MICROSOFT, { alpha: { float: 1 } }),
  LayerNormalization: (s, x) => s.node("LayerNormalization", [x, s.random([WIDTH], 1), s.random([WIDTH])]),
  "LayerNormalization without β": (s, x) =>
    s.node("LayerNormalization", [x, s.random([WIDTH], 1)], { axis: 2, epsilon: { float: 1e-3 } }),
  SkipLayerNormalization: (s, x) =>
    s.node(
      "SkipLayerNormalization",
      [x, other(s), s.random([WIDTH], 1), s.random([WIDTH]), s.random([WIDTH])],
      { epsilon: { float: 1e-12 } },
      { domain: MICROSOFT, outputs: ["norm", "", "", "sum"] },
    ),
  "SkipLayerNormalization of positions": (s, x) =>
    s.node("SkipLayerNormalization", [x, s.random([TOKENS, WIDTH]), s.random([WIDTH], 1)], {}, { domain: MICROSOFT }),
  SimplifiedLayerNormalization: (s, x) =>
    s.node("SimplifiedLayerNormalization", [x, s.random([WIDTH], 1)], { axis: -1, epsilon: { float: 1e-3 } }),
  SkipSimplifiedLayerNormalization: (s, x) =>
    s.node(
      "SkipSimplifiedLayerNormalization",
      [x, other(s), s.random([WIDTH], 1), s.random([WIDTH])],
      { epsilon: { float: 1e-12 } },
      { domain: MICROSOFT, outputs: ["norm", "", "", "sum"] },
    ),
  MatMul: (s, x) => s.node("MatMul", [x, s.random([WIDTH, 3])]),
  "Gather of the first token": (s, x) => s.node("Gather", [x, s.index(0)], { axis: 1 }),
  "Gather of some columns": (s, x) => s.node("Gather", [x, sizes(3, -1, 0, 3)], { axis: -1 }),
  "ReduceMean of tokens": (s, x) => s.node("ReduceMean", [x, sizes(1)], { keepdims: 0 }),
  Slice: (s, x) => s.node("Slice", [x, sizes(1, -6), sizes(4, -1), sizes(1, -1)]),
  "Slice without axes": (s, x) => s.node("Slice", [x, sizes(0, 2), sizes(1, 3)]),
  "Slice from before the beginning to beyond the end": (s, x) =>
    s.node("Slice", [x, sizes(-2147483648), sizes(2147483647), sizes(2), sizes(1)]),
  Split: (s, x) => s.node("Split", [x], { axis: -1, num_outputs: 2 }, { outputs: ["a", "b"] }),
  "Split of equal sizes": (s, x) => s.node("Split", [x, sizes(4, 4)], { axis: 2 }, { outputs: ["a", "b"] }),
  RotaryEmbedding: (s, x) => rotary(s, x),
};

async function compared(draw: Draw) {
  const s = new Sketch(OPSET);
  const node = draw(s, s.input("x", X));
  const results = node.outputs.filter((value) => value !== undefined);
  for (const value of results) s.output(value, value.name);
  const random = randomNumbers(5);
  const given = new Map(
    s.graph.inputs.map((input): [Value, Tensor] => {
      const numbers = Float32Array.from({ length: elementCount(X) }, () => 8 * random() - 4);
      return [input, tensor("float32", X, numbers)];
    }),
  );
  const feeds = Object.fromEntries([...given].map(([{ name }, value]) => [name, toOrt(value)]));
  const [wanted] = (await runGraph(s.graph, [feeds])) as [Tensors];
  const read = node.inputs.map((value) => value && numbersIn(value.constant ?? (given.get(value) as Tensor)));
  const outputs = await floatKernels[`${node.domain}:${node.opType}`]?.(node, integerProduct)(read);
  return { node, wanted, outputs: outputs as KernelOutputs };
}

const numbersIn = (value: Tensor): NodeTensor => ({
  shape: value.shape,
  data: value.dtype === "float32" ? toFloat32(value) : Int32Array.from(numbersOf(value)),
});

describe("a float kernel", () => {
  it.each(Object.entries(cases))("computes what onnxruntime computes: %s", async (_, draw) => {
    const { node, wanted, outputs } = await compared(draw);
    expect(kernelSupports(node)).toBe(true);
    node.outputs.forEach((value, i) => {
      if (!value) return;
      const { dims, data } = wanted[value.name] as { dims: readonly number[]; data: Float32Array };
      expect(outputs[i]?.shape).toEqual(dims);
      expect(outputs[i]?.data).toHaveLength(data.length);
      data.forEach((number, at) => {
        const difference = Math.abs((outputs[i]?.data[at] as number) - number);
        const bound = /^(Bias|Fast)?Gelu$/.test(node.opType) ? GELU_TOLERANCE : FLOAT32_ROUNDING;
        expect(difference).toBeLessThan(bound * Math.max(1, Math.abs(number)));
      });
    });
  });

  it("is tested for every operator that has one", async () => {
    const names = await Promise.all(
      Object.values(cases).map(async (draw) => {
        const { domain, opType } = (await compared(draw)).node;
        return `${domain}:${opType}`;
      }),
    );
    expect([...new Set(names)].sort()).toEqual(Object.keys(floatKernels).sort());
  });

  it.each<[string, Draw]>([
    ["MatMul of two computed tensors", (s, x) => s.node("MatMul", [x, s.input("y", [1, WIDTH, 3])])],
    [
      "LayerNormalization over tokens",
      (s, x) => s.node("LayerNormalization", [x, s.random([TOKENS, WIDTH])], { axis: 1 }),
    ],
    ["Split into unequal parts", (s, x) => s.node("Split", [x, sizes(3, 5)], { axis: -1 }, { outputs: ["a", "b"] })],
    [
      "Split of another axis",
      (s, x) => s.node("Split", [x], { num_outputs: 5 }, { outputs: ["a", "b", "c", "d", "e"] }),
    ],
    [
      "Split of computed sizes",
      (s, x) => s.node("Split", [x, s.input("sizes", [2], "int64")], { axis: -1 }, { outputs: ["a", "b"] }),
    ],
    ["Slice in steps", (s, x) => s.node("Slice", [x, sizes(0), sizes(4), sizes(2), sizes(2)])],
    ["interleaved rotary embedding", (s, x) => rotary(s, x, { interleaved: 1 })],
  ])("does not support %s", (_, draw) => {
    const s = new Sketch(OPSET);
    expect(kernelSupports(draw(s, s.input("x", X)))).toBe(false);
  });

  it("refuses two shapes if neither ends with the other", () => {
    const s = new Sketch(OPSET);
    const node = s.node("Mul", [s.input("x", X), s.input("mask", [1, TOKENS, 1])]);
    const of = (...shape: number[]): NodeTensor => ({ shape, data: new Float32Array(elementCount(shape)) });
    const run = floatKernels[":Mul"]?.(node, integerProduct);
    expect(refusal(() => run?.([of(...X), of(1, TOKENS, 1)]))).toBe("engine_unsupported");
    expect(refusal(() => run?.([of(...X), of(TOKENS, WIDTH)]))).toBe("accepted");
  });
});
