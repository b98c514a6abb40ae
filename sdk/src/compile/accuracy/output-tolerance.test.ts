import { describe, expect, it } from "vitest";
import { Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { float32Scalar, tensor, tensorFromNumbers } from "../graph/tensor.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { toFp16 } from "../quantize/fp16/to-fp16.ts";
import { compareNumbers } from "./compare-numbers.ts";
import { type Arithmetic, arithmeticOf, compareOutputs, inFloat32 } from "./output-tolerance.ts";

const half = () => tensor("float16", [2], new Uint16Array([0x3c00, 0x3c00]));

it.each<[string, Arithmetic, (s: Sketch, x: ReturnType<Sketch["input"]>) => unknown]>([
  ["float32 constants", "float32", (s, x) => s.op("Add", [x, s.random([2])])],
  ["a float16 constant", "float16", (s, x) => s.op("Add", [s.op("Cast", [x], { to: 10 }), s.constant(half())])],
  [
    "float16 weights that are cast to float32",
    "float32",
    (s, x) => s.op("Add", [x, s.op("Cast", [s.constant(half())], { to: 1 })]),
  ],
  [
    "a float16 table whose rows are cast to float32",
    "float32",
    (s, x) => s.op("Add", [x, s.op("Cast", [s.op("Gather", [s.constant(half()), s.index(0)])], { to: 1 })]),
  ],
  ["quantized activations", "quantized", (s, x) => s.op("QuantizeLinear", [x, s.constant(float32Scalar(1))])],
  ["dynamically quantized activations", "quantized", (s, x) => s.op("DynamicQuantizeLinear", [x])],
  [
    "quantized weights only",
    "float32",
    (s, x) =>
      s.op("Add", [
        x,
        s.op("DequantizeLinear", [s.constant(tensor("int8", [2], Int8Array.of(1, 2))), s.constant(float32Scalar(1))]),
      ]),
  ],
])("a graph with %s computes in %s", (_, arithmetic, build) => {
  const s = new Sketch();
  build(s, s.input("x", ["batch", 2]));
  expect(arithmeticOf(s.graph)).toBe(arithmetic);
});

describe("compareOutputs", () => {
  const share = (
    arithmetic: Arithmetic,
    original: number[],
    found: number[],
    dtype: "float32" | "int64" = "float32",
  ) => {
    const vector = (values: number[]) => tensorFromNumbers(dtype, [values.length], values);
    return compareOutputs(vector(original), vector(found), arithmetic).ofTolerance;
  };

  it("allows 1e-4 of each float32 element, and 1e-4 more for each unit of its size", () => {
    expect(share("float32", [0, 4], [0.9e-4, 4])).toBeLessThan(1);
    expect(share("float32", [0, 4], [1.1e-4, 4])).toBeGreaterThan(1);
    expect(share("float32", [0, 4], [0, 4.00049])).toBeLessThan(1);
  });

  it("allows 8 units of the largest element where a model computes in float16, whatever type it returns", () => {
    const unit = 2 ** -8; // Between 4 and 8.
    expect(share("float16", [0, 5], [7.9 * unit, 5])).toBeLessThan(1);
    expect(share("float16", [0, 5], [8.1 * unit, 5])).toBeGreaterThan(1);
    const half = (value: number) => tensorFromNumbers("float16", [1], [value]);
    expect(compareOutputs(half(5), half(5 + unit), "float32").ofTolerance).toBeLessThan(1);
  });

  it.each(["float32", "float16", "quantized"] as const)(
    "allows nothing more beside an infinite element, in %s",
    (kind) => {
      const infinite = Number.NEGATIVE_INFINITY;
      expect(share(kind, [infinite, 1], [infinite, 1])).toBe(0);
      expect(share(kind, [infinite, 1], [infinite, 1.5])).toBeGreaterThan(1);
      expect(share(kind, [infinite, 1], [-1e9, 1])).toBe(Number.POSITIVE_INFINITY);
    },
  );

  it("allows a cosine of 0.999 where a model quantizes activations, and no other scale", () => {
    expect(share("quantized", [3, 4], [3.1, 3.9])).toBeLessThan(1);
    expect(share("quantized", [3, 4], [3.3, 3.9])).toBeGreaterThan(1);
    expect(share("quantized", [3, 4], [3.3, 4.4])).toBeGreaterThan(1);
    expect(share("quantized", [0, 0], [0, 0])).toBe(0);
    expect(share("quantized", [0, 0], [0, 1e-9])).toBe(Number.POSITIVE_INFINITY);
    expect(share("quantized", [3, 4], [3, Number.NaN])).toBe(Number.POSITIVE_INFINITY);
    expect(share("quantized", [3], [3, 4])).toBe(Number.POSITIVE_INFINITY);
  });

  it.each(["float32", "float16", "quantized"] as const)("allows integers no difference, in %s", (arithmetic) => {
    expect(share(arithmetic, [1000, 3], [1000, 4], "int64")).toBeGreaterThan(1);
    expect(share(arithmetic, [1000, 3], [1000, 3], "int64")).toBe(0);
  });
});

const hiddenStates = async (graph: Graph): Promise<Float32Array> => {
  const session = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
  const [found = new Float32Array()] = await session.run([Int32Array.of(2, 9, 14, 7, 3)]);
  await session.release();
  return found;
};

it("computes in float32, with the weights of the float16 model", async () => {
  const { config, weights } = tinyBert();
  const graph = encoderGraph(config, weights);
  await fuseGraph(graph);
  const half = toFp16(graph);
  const whole = inFloat32(half);
  expect([...whole.nodes].flatMap(({ outputs }) => outputs.map((value) => value?.dtype))).not.toContain("float16");
  expect([...whole.constants()].map(({ dtype }) => dtype)).not.toContain("float16");
  const [exact, rounded, original] = [await hiddenStates(whole), await hiddenStates(half), await hiddenStates(graph)];
  const distance = (a: Float32Array, b: Float32Array) => compareNumbers(a, b, { absolute: 0, relative: 0 }).maxAbs;
  // Rounding the weights changes the result, and so does rounding the activations.
  expect(distance(exact, original)).toBeGreaterThan(1e-5);
  expect(distance(exact, rounded)).toBeGreaterThan(1e-5);
  expect(distance(exact, rounded)).toBeLessThan(1e-2);
});
