import { describe, expect, it } from "vitest";
import { attribute, declarationOf, modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { CAST, Sketch, type SketchAttribute, type SketchOperand } from "#test/fixtures/sketch.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { largestOutputDifference } from "#test/oracles/run-model.ts";
import type { Value } from "../graph/node.ts";
import { numbersOf, type Tensor, tensor } from "../graph/tensor.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { foldConstants } from "./fold-constants.ts";
import { toOrt } from "./ort-session.ts";

const MEBIBYTE = 1 << 20;

/**
 * Folds the graph that `draw` makes. Checks that onnxruntime computes the same bits for the original and the folded
 * graph.
 */
async function folded(draw: (s: Sketch) => readonly Value[], opset = 17): Promise<Sketch> {
  const [before, after] = [new Sketch(opset), new Sketch(opset)];
  for (const s of [before, after]) for (const [i, value] of draw(s).entries()) s.output(value, `result${i}`);
  const wanted = await runGraph(before.graph, feedsOf(before));
  inferShapes(after.graph);
  await foldConstants(after.graph);
  verifyGraph(after.graph);
  const found = await runGraph(after.graph, feedsOf(after));
  expect(found.map((outputs, i) => largestOutputDifference(outputs, wanted[i] ?? {}))).toEqual([0, 0]);
  return after;
}

/** Makes two sets of inputs, in which all elements are 1. Dynamic sizes are 2 in the first set and 5 in the second. */
const feedsOf = ({ graph }: Sketch) =>
  [2, 5].map((size) =>
    Object.fromEntries(
      graph.inputs.map(({ name, shape = [] }) => {
        const dims = shape.map((dim) => (typeof dim === "number" ? dim : size));
        const ones = Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => 1);
        return [name, toOrt(tensor("float32", dims, ones))];
      }),
    ),
  );

const operators = ({ graph }: Sketch) => graph.sorted().map(({ opType }) => opType);
const constantOf = ({ graph }: Sketch, i = 0): Tensor => graph.outputs[i]?.value.constant as Tensor;

describe("foldConstants", () => {
  it("computes values that depend only on constants", async () => {
    const s = await folded((s) => {
      const turned = s.op("Transpose", [s.random([3, 4])]);
      const scaled = s.op("Mul", [turned, s.op("Sqrt", [2])]);
      return [s.op("MatMul", [s.input("x", ["b", 4]), scaled]), scaled];
    });
    expect(operators(s)).toEqual(["MatMul"]);
    expect(s.graph.constants().size).toBe(1);
  });

  it("transposes large weights lazily", async () => {
    const s = await folded((s) => {
      const turned = s.op("Transpose", [s.random([200, 100])], { perm: [1, 0] });
      const unturned = s.op("Transpose", [s.random([100, 200])], { perm: [0, 1] });
      return [turned, unturned].map((weight) => s.op("Add", [s.input(`x of ${weight.name}`, ["b", 100, 200]), weight]));
    });
    expect(operators(s)).toEqual(["Add", "Add"]);
    const [turned] = s.graph.sorted().map(({ inputs }) => inputs[1]?.constant);
    expect(turned?.data).not.toBe(turned?.data);
  });

  it("computes every output of a node", async () => {
    const parts = { outputs: ["a", "b", "c"] };
    const s = await folded((s) => [...s.node("Split", [s.random([6])], { axis: 0 }, parts).outputs] as Value[]);
    expect(operators(s)).toEqual([]);
  });

  it("folds sizes that do not depend on the input", async () => {
    const s = await folded((s) => {
      const sizes = s.op("Shape", [s.op("Exp", [s.input("x", ["b", 3, 4])])]);
      return [
        s.op("Mul", [s.op("Gather", [sizes, [1, -1]]), [2]]),
        s.op("Cast", [s.op("Equal", [sizes, [-1]])], { to: CAST.int32 }),
      ];
    });
    expect(operators(s)).toEqual([]);
    expect([numbersOf(constantOf(s, 0)), numbersOf(constantOf(s, 1))]).toEqual([
      [6, 8],
      [0, 0, 0],
    ]);
  });

  it("keeps sizes that depend on the input", async () => {
    const s = await folded((s) => [s.op("Shape", [s.input("x", ["b", 3])])]);
    expect(operators(s)).toEqual(["Shape"]);
  });

  it.each([2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n])("does not round %s", async (value) => {
    const s = await folded((s) => [
      s.op("Unsqueeze", [s.constant(tensor("int64", [], BigInt64Array.of(value))), [0]]),
      s.op("Add", [s.constant(tensor("int64", [1], BigInt64Array.of(value))), [0]]),
    ]);
    expect(operators(s)).toEqual([]);
    for (const i of [0, 1])
      expect(new BigInt64Array(constantOf(s, i).data.slice().buffer)).toEqual(BigInt64Array.of(value));
  });

  it("keeps a value that a sub-graph reads by name", async () => {
    const branch = { node: [nodeOf("t = Add(w, x)")], output: [declarationOf("t")] };
    const branches = [attribute.graph("then_branch", branch), attribute.graph("else_branch", branch)];
    const graph = fromOnnx(
      modelOf({
        input: [declarationOf("condition", [], "bool"), declarationOf("x", [1])],
        initializer: [{ name: "one", dims: [1n], dataType: 1, floatData: [1] }],
        node: [nodeOf("w = Neg(one)"), nodeOf("y = If(condition)", branches)],
        output: [declarationOf("y"), declarationOf("w")],
      }),
    );
    inferShapes(graph);
    await foldConstants(graph);
    verifyGraph(graph);
    const feeds = {
      condition: toOrt({ dtype: "bool", shape: [], data: Uint8Array.of(1) }),
      x: toOrt(tensor("float32", [1], Float32Array.of(5))),
    };
    const [outputs] = await runGraph(graph, [feeds]);
    expect(Object.values(outputs ?? {}).map(({ data }) => [...(data as Float32Array)])).toEqual([[4], [-1]]);
  });

  it("folds values even if others fail", async () => {
    const s = new Sketch();
    const mismatch = s.op("Add", [s.floats([2], [1, 2]), s.floats([3], [1, 2, 3])]);
    // Declares a shape for the result, so that only onnxruntime finds out that the two operands do not fit.
    mismatch.shape = [2];
    const sound = [1, 2, 3].map((value) => s.op("Neg", [value]));
    for (const [i, value] of [...sound, mismatch].entries()) s.output(value, `result${i}`);
    inferShapes(s.graph);
    await foldConstants(s.graph);
    expect(operators(s)).toEqual(["Add"]);
    expect([0, 1, 2].map((i) => numbersOf(constantOf(s, i)))).toEqual([[-1], [-2], [-3]]);
  });

  it.each<[string, readonly SketchOperand[], Record<string, SketchAttribute>]>([
    ["RandomNormal", [], { shape: [2] }],
    ["RandomUniform", [], { shape: [2] }],
    ["RandomNormalLike", [1], {}],
    ["RandomUniformLike", [1], {}],
    ["Bernoulli", [1], {}],
    ["Multinomial", [1], {}],
    ["QuantizeLinear", [1, 1], {}],
    ["DynamicQuantizeLinear", [1], {}],
  ])("does not fold %s", async (opType, inputs, settings) => {
    const s = new Sketch();
    const result = s.op(opType, inputs, settings);
    s.output(result);
    inferShapes(s.graph);
    // Declares the shape. A node with an unknown shape is never folded, so the test would prove nothing.
    Object.assign(result, { dtype: "float32", shape: [2] });
    await foldConstants(s.graph);
    expect(operators(s)).toEqual([opType]);
  });

  it("keeps quantized weights, and values computed from them", async () => {
    const s = await folded((s) => {
      const weights = s.constant({ dtype: "int8", shape: [2, 2], data: Uint8Array.of(1, 2, 3, 4) });
      const zero = s.constant({ dtype: "int8", shape: [], data: new Uint8Array(1) });
      return [s.op("Transpose", [s.op("DequantizeLinear", [weights, 0.5, zero])])];
    });
    expect(operators(s)).toEqual(["DequantizeLinear", "Transpose"]);
  });

  it("keeps a node whose output is much larger than its inputs", async () => {
    const expand = (bytes: number) => folded((s) => [s.op("Expand", [s.floats([1], [1]), [bytes / 4]])]);
    expect(operators(await expand(MEBIBYTE))).toEqual([]);
    expect(operators(await expand(MEBIBYTE + 64))).toEqual(["Expand"]);
  });

  it("keeps a node whose large constant has other readers", async () => {
    const transposed = (users: number) =>
      folded((s) => {
        const table = s.random([MEBIBYTE / 2, 1]);
        return Array.from({ length: users }, () => s.op("Transpose", [table]));
      });
    expect(operators(await transposed(1))).toEqual([]);
    expect(operators(await transposed(2))).toEqual(["Transpose", "Transpose"]);
  });

  it("does not compute a tensor that is larger than memory", async () => {
    const s = new Sketch();
    s.output(s.op("ConstantOfShape", [[2 ** 31, 2 ** 31]]), "fill");
    s.output(s.op("Range", [s.index(0), s.index(2 ** 40), s.index(1)]), "range");
    inferShapes(s.graph);
    await foldConstants(s.graph);
    expect(operators(s)).toEqual(["ConstantOfShape", "Range"]);
  });

  it("does not store invalid sizes", async () => {
    const graph = fromOnnx(
      modelOf({
        input: [{ name: "x", type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2n ** 63n - 1n }] } } } }],
        node: [nodeOf("sizes = Shape(x)"), nodeOf("y = ConstantOfShape(sizes)")],
        output: [declarationOf("y"), declarationOf("sizes")],
      }),
    );
    inferShapes(graph);
    await foldConstants(graph);
    expect(graph.nodes.size).toBe(2);
  });

  it("keeps inputs with a default value, which a caller may override", async () => {
    const graph = fromOnnx(
      modelOf({
        input: [declarationOf("w", [1])],
        initializer: [{ name: "w", dims: [1n], dataType: 1, floatData: [1] }],
        node: [nodeOf("y = Neg(w)")],
        output: [declarationOf("y")],
      }),
    );
    inferShapes(graph);
    await foldConstants(graph);
    expect(graph.nodes.size).toBe(1);
  });
});
