import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { readExportCase, toTensors } from "#test/fixtures/export-case.ts";
import { sampled } from "#test/fixtures/sampled.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { runModel, type Tensors } from "#test/oracles/run-model.ts";
import { contradictions } from "#test/oracles/shape-oracle.ts";
import { symbolOf } from "../graph/dim.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { toOnnx } from "../onnx/to-onnx.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { inferShapes } from "./infer-shapes.ts";

describe("inferShapes", () => {
  it("ignores the results of an earlier run", () => {
    const s = new Sketch();
    const y = s.op("Relu", [s.input("x", ["b"])]);
    Object.assign(y, { dtype: "int8", shape: [4], content: [7] });
    inferShapes(s.graph);
    expect(y).toMatchObject({ dtype: "float32", content: undefined });
    expect(`${y.shape}`).toBe("b");
  });

  it.each([
    ["of another domain", "Relu", "example.com"],
    ["of a domain named like a property of objects", "toString", "__proto__"],
    ["named like a property of objects", "__proto__", ""],
    ["named like a method of objects", "hasOwnProperty", ""],
    ["named like a method of objects", "constructor", MICROSOFT],
  ])("infers nothing for an operator %s", (_, opType, domain) => {
    const s = new Sketch();
    const y = s.op(opType, [s.input("x", ["b"])], {}, { domain });
    inferShapes(s.graph);
    expect(y).toMatchObject({ dtype: undefined, shape: undefined, content: undefined });
  });

  it("terminates if unknown sizes turn out to be equal", () => {
    const s = new Sketch();
    const open = (name: string) => s.op("Reshape", [s.input(name, ["n"]), s.input(`${name}.to`, [2], "int64")]);
    const [a, b, c] = ["a", "b", "c"].map(open) as [Value, Value, Value];
    const sums = [s.op("Add", [a, b]), s.op("Add", [b, c]), s.op("Add", [c, s.input("x", ["b", "s"])])];
    inferShapes(s.graph);
    expect(new Set([a, b, c, ...sums].map(({ shape }) => `${shape}`)).size).toBe(1);
  });

  it("accepts an omitted output", () => {
    const s = new Sketch();
    s.node("Reshape", [s.input("x", ["n"]), s.input("to", [2], "int64")], {}, { outputs: [""] });
    s.node("Reshape", [s.input("y", ["n"]), s.input("to", [2], "int64")], {}, { outputs: [] });
    expect(() => inferShapes(s.graph)).not.toThrow();
  });

  it.each<[string, (s: Sketch, sizes: Value) => Value]>([
    ["multiplied repeatedly", (s, sizes) => s.op("Mul", [sizes, s.op("Add", [sizes, [1]])])],
    ["divided repeatedly", (s, sizes) => s.op("Div", [sizes, s.op("Add", [sizes, [1]])])],
    ["compared repeatedly", (s, sizes) => s.op("Max", [sizes, s.op("Sub", [[9], sizes])])],
  ])("drops sizes that grow because they are %s", (_, again) => {
    const s = new Sketch();
    let sizes = s.op("Shape", [s.input("x", ["a", "b"])]);
    sizes = s.op("Add", [sizes, s.op("Gather", [sizes, [1, 0]])]);
    for (let i = 0; i < 60; i++) sizes = again(s, sizes);
    inferShapes(s.graph);
    expect(sizes.content).toBeUndefined();
  });

  it("does not expand a product of many sums", () => {
    const s = new Sketch();
    const sums = Array.from({ length: 40 }, (_, i) =>
      s.op("Concat", [s.input("x", [`a${i}`]), s.input("y", [`b${i}`])], { axis: 0 }),
    );
    const grown = sums.map((sum) => s.op("Shape", [sum]));
    const all = s.op("ReduceProd", [s.op("Concat", grown, { axis: 0 })], { keepdims: 0 });
    inferShapes(s.graph);
    expect(all.content?.join().length ?? 0).toBeLessThan(2_000);
  });

  it.each<[string, Record<string, SketchAttribute>]>([
    ["Unsqueeze", { axes: [99, -99] }],
    ["Squeeze", { axes: [99, -99] }],
    ["Transpose", { perm: [7, -7, 0] }],
    ["ReduceSum", { axes: [99, -99] }],
    ["Gather", { axis: -99 }],
    ["Concat", { axis: 99 }],
    ["Split", { axis: -99 }],
    ["Flatten", { axis: -99 }],
    ["Softmax", { axis: -99 }],
    ["LayerNormalization", { axis: 99 }],
    ["ArgMax", { axis: 99 }],
    ["GatherND", { batch_dims: 99 }],
    ["Einsum", { equation: "ab,->xyz" }],
    ["Pad", { pads: [1, 2] }],
    ["Expand", {}],
    ["Tile", {}],
    ["Slice", {}],
    ["Range", {}],
    ["Where", {}],
    ["Gemm", {}],
    ["ConstantOfShape", {}],
  ])("does not throw for an invalid %s", (opType, settings) => {
    const s = new Sketch(11);
    s.op(opType, [s.input("x", ["b", 3])], settings);
    s.op(opType, [undefined, [1, 2, 3], [4]], settings);
    s.op(
      opType,
      [
        s.op("Shape", [s.input("y", ["n"])]),
        [-7],
        [2 ** 53],
        s.constant({ dtype: "float32", shape: [0], data: new Uint8Array() }),
      ],
      settings,
    );
    s.op(opType, [], settings);
    expect(() => inferShapes(s.graph)).not.toThrow();
  });
});

/**
 * Returns the number that each symbol stands for, taken from the first value that has exactly this symbol as a size.
 */
function sizesOf(values: readonly Value[], actual: Tensors): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const { name, shape } of values) {
    for (const [axis, dim] of (shape ?? []).entries()) {
      const symbol = symbolOf(dim);
      if (symbol !== undefined) sizes[symbol] ??= actual[name]?.dims[axis] ?? Number.NaN;
    }
  }
  return sizes;
}

describeShared("corpus", "every value of a model as it was exported", (folder) => {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json")))
    : [];

  it.each(sampled(names, 4, 2))("%s has the inferred types, shapes and contents", async (name) => {
    const model = await readOnnx(join(folder, name, "model.onnx"));
    const graph = fromOnnx(model);
    inferShapes(graph);
    const values = [...graph.nodes].flatMap(({ outputs }) => outputs).filter((value) => value?.dtype) as Value[];
    graph.outputs.length = 0;
    for (const value of values)
      graph.outputs.push({ name: value.name, value, declaration: { name: value.name, metadataProps: [] } });
    const inputs = readExportCase(join(folder, name)).inputs.slice(0, 2).map(toTensors);
    const results = await runModel(encodeModel(toOnnx(graph, model)).finish(), inputs);
    const wrong = results.flatMap((tensors, i) => {
      const sizes = sizesOf([...graph.inputs, ...values], { ...inputs[i], ...tensors });
      return values.flatMap((value) => contradictions(value, tensors[value.name] as ort.Tensor, sizes));
    });
    expect(wrong).toEqual([]);
  });
});
