import { describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { floorDivDims, symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { float32Scalar, int64s, type Tensor, tensor } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { largestConstant, probe, sourcesOf, symbolsIn, type ValueSources } from "./probe.ts";

const sources = (value: Value): ValueSources => {
  const found = sourcesOf(value);
  if (!found) throw new RangeError("more than can be probed");
  return found;
};
const names = (values: ReadonlySet<Value>) => [...values].map(({ name }) => name).sort();

/**
 * Makes a graph that expands the input `scale` to [length, 2] and multiplies the result by 3. The length comes from the
 * shape of the input `hidden`. `unknown` is the output of an operator that onnxruntime does not have.
 */
function masked() {
  const s = new Sketch();
  const x = s.input("x", ["b", "s"]);
  const unknown = s.op("NoSuchOperator", [x], {}, { domain: "example.com" });
  Object.assign(unknown, { dtype: "float32", shape: [symbolicDim("b"), symbolicDim("s"), 4] });
  const sizes = s.op("Shape", [s.input("hidden", ["b", "s", 4])], {}, { name: "sizes" });
  const length = s.op("Gather", [sizes, s.index(1)], {}, { name: "length" });
  const target = s.op("Concat", [s.op("Unsqueeze", [length, [0]]), [2]], { axis: 0 }, { name: "target" });
  const result = s.op("Mul", [s.op("Expand", [s.input("scale", [1]), target]), 3]);
  s.output(result);
  inferShapes(s.graph);
  return { graph: s.graph, result, scale: s.graph.inputs[2] as Value, x, unknown };
}

describe("sourcesOf", () => {
  it("finds inputs, sizes and constants, and stops at sizes", () => {
    const { result } = masked();
    const found = sources(result);
    expect(names(found.inputs)).toEqual(["scale"]);
    expect(names(found.sizes)).toEqual(["target"]);
    expect(found.constants.size).toBe(1);
    expect(symbolsIn(found)).toEqual(new Set(["s"]));
  });

  it("treats compared integers as values, not as sizes", () => {
    const s = new Sketch();
    const equal = s.op("Equal", [s.op("Shape", [s.input("x", ["b", 3])]), [-1]]);
    inferShapes(s.graph);
    expect(equal.content).toEqual([0, 0]);
    expect(names(sources(equal).sizes)).toEqual(["Shape"]);
  });

  it("returns undefined for string tensors, sub-graphs and large computations", () => {
    const s = new Sketch();
    const x = s.input("x", [1]);
    const words = s.graph.opaque("words", {
      name: "words",
      dims: [],
      dataType: 8,
      floatData: [],
      int32Data: [],
      stringData: [],
      int64Data: [],
      doubleData: [],
      uint64Data: [],
      externalData: [],
      metadataProps: [],
    });
    const chain = (length: number) => {
      let value = x;
      for (let i = 0; i < length; i++) value = s.op("Neg", [value]);
      return value;
    };
    expect(sourcesOf(s.op("Gather", [words, x]))).toBeUndefined();
    expect(sourcesOf(s.op("Neg", [s.op("If", [x], {}, { captures: [x] })]))).toBeUndefined();
    expect(sourcesOf(chain(600))).toBeUndefined();
    expect(sourcesOf(chain(500))).toBeDefined();
  });
});

describe("probe", () => {
  const floats = (...values: number[]): Tensor => tensor("float32", [values.length], Float32Array.from(values));
  const ask = (graph: Graph, value: Value, symbols: Record<string, number>, given: [Value, Tensor][] = []) =>
    probe(graph, value, sources(value), new Map(Object.entries(symbols)), new Map(given));

  it("computes a value from inputs and sizes", async () => {
    const { graph, result, scale } = masked();
    const found = await ask(graph, result, { s: 3 }, [[scale, floats(2)]]);
    expect(found).toEqual(tensor("float32", [3, 2], new Float32Array(6).fill(6)));
  });

  it("does not run nodes before a Shape", async () => {
    const s = new Sketch();
    const unknown = s.op("NoSuchOperator", [s.input("x", ["b"])], {}, { domain: "example.com" });
    const sizes = s.op("Shape", [unknown]);
    const result = s.op("ConstantOfShape", [s.op("Identity", [sizes])]);
    inferShapes(s.graph);
    // Sets the contents that a shape rule for NoSuchOperator would have inferred.
    for (const value of [sizes, sizes.users.values().next().value?.output as Value]) {
      Object.assign(value, {
        dtype: "int64",
        shape: [2],
        content: [symbolicDim("b"), floorDivDims(symbolicDim("b"), 2)],
      });
    }
    expect(await ask(s.graph, result, { b: 5 })).toMatchObject({ dtype: "float32", shape: [5, 2] });
  });

  it("passes scalar sizes as scalars of their type", async () => {
    const s = new Sketch();
    const INT32 = 6;
    const size = s.op("Cast", [s.op("Size", [s.input("x", ["b", 3])])], { to: INT32 });
    const result = s.op("Range", [
      s.constant({ dtype: "int32", shape: [], data: new Uint8Array(4) }),
      size,
      s.constant({ dtype: "int32", shape: [], data: Uint8Array.of(2, 0, 0, 0) }),
    ]);
    inferShapes(s.graph);
    expect(await ask(s.graph, s.op("Neg", [result]), { b: 2 })).toEqual(tensor("int32", [3], Int32Array.of(0, -2, -4)));
  });

  it("returns constants unchanged", async () => {
    const s = new Sketch();
    const constant = s.constant(float32Scalar(3));
    expect(await ask(s.graph, constant, {})).toBe(constant.constant);
  });

  it("returns undefined if an input or a size is missing", async () => {
    const { graph, result, scale } = masked();
    expect(await ask(graph, result, { s: 3 })).toBeUndefined();
    const s = new Sketch();
    const target = s.op("Shape", [s.input("x", ["b"])]);
    const fill = s.op("ConstantOfShape", [target]);
    inferShapes(s.graph);
    target.content = [floorDivDims(symbolicDim("b"), symbolicDim("c"))];
    expect(await ask(s.graph, fill, { b: 4, c: 0 })).toBeUndefined();
    expect(await ask(s.graph, fill, { b: 4, c: 2 })).toMatchObject({ shape: [2] });
    expect(scale.producer).toBeUndefined();
  });
});

describe("largestConstant", () => {
  const largestIn = (...constants: Tensor[]) => {
    const s = new Sketch();
    return largestConstant(
      sources(
        s.op(
          "Op",
          constants.map((constant) => s.constant(constant)),
        ),
      ),
    );
  };

  it("is the largest integer or size, except sentinels", () => {
    expect(largestIn()).toBe(0);
    expect(largestIn(int64s(3, -7), int64s(5))).toBe(7);
    expect(largestIn(int64s(3, 2 ** 31 - 1), tensor("float32", [1, 9], new Float32Array(9)))).toBe(9);
    expect(largestIn(float32Scalar(1e6))).toBe(0);
  });
});
