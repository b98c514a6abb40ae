import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { attendedStates, largestDifference, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { countOperators, expectSame } from "#test/oracles/rewritten.ts";
import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";
import { verifyGraph } from "../../graph/verify-graph.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { integerMatMuls } from "../qdq/integer-matmuls.ts";
import type { ActivationRange } from "./histogram.ts";
import { quantizeInt8Static } from "./int8-static.ts";
import { observeRanges } from "./observe-ranges.ts";

/** Minimum cosine between quantized and float32 hidden states. Measured: 0.9992 at worst over six seeds. */
const MIN_COSINE = 0.999;

/** Difference between summing integers as float32 and as integers: about 1e-6 for hidden states around 1. */
const FLOAT32_ROUNDING = 1e-5;

const masks = [
  [1, 1, 1, 1, 1, 1],
  [1, 1, 0, 0, 0, 0],
  [0, 0, 0, 0, 1, 1],
  [0, 1, 1, 0, 1, 0],
];
const batch = randomBatch(masks, 50);
const calibration = Array.from({ length: 12 }, (_, i) => 8 + i).map((seed) =>
  calibrationBatch(randomBatch(masks, 50, seed)),
);

const calibrated = async (graph: Graph) => quantizeInt8Static(graph, await observeRanges(graph, calibration));

describe("a tiny BERT in static int8", () => {
  it.each([1, 2, 3, 4, 5, 6])(
    "stays close to float32 under every padding, fused or not, with weights of seed %i",
    async (seed) => {
      const { config, weights } = tinyBert({ seed });
      const expected = await attendedStates(encoderGraph(config, weights), batch);
      for (const graph of [encoderGraph(config, weights), await fusedGraph(config, weights)]) {
        const hiddenStates = await attendedStates(await calibrated(graph), batch);
        const cosines = hiddenStates.map((state, i) => cosine(state, expected[i] as Float32Array));
        expect(cosines).toHaveLength(expected.length);
        expect(Math.min(...cosines)).toBeGreaterThan(MIN_COSINE);
      }
    },
  );

  it("quantizes every layer's input with a QDQ pair and stores every weight in int8", async () => {
    const { config, weights } = tinyBert();
    const before = encoderGraph(config, weights);
    const printed = printGraph(before);
    const graph = await calibrated(before);
    verifyGraph(graph);
    expect(printGraph(before)).toBe(printed);
    // Two layers, each with four inputs (query, key and value share one) and six weights.
    expect(countOperators(graph)).toMatchObject({ QuantizeLinear: 8, DequantizeLinear: 20 });
    expect([...graph.nodes].every(({ domain }) => domain === "")).toBe(true);
    for (const node of graph.nodes) if (node.is("QuantizeLinear") || node.is("DequantizeLinear")) expectSymmetric(node);
    const float = [...graph.constants()].filter(
      ({ constant }) => constant?.dtype === "float32" && constant.shape.length === 2,
    );
    // The token, position and type tables.
    expect(float).toHaveLength(3);
  });

  it("computes the same in onnxruntime's integer operators", async () => {
    const { config, weights } = tinyBert();
    const graph = await calibrated(await fusedGraph(config, weights));
    const integer = await integerMatMuls(graph);
    expect(countOperators(integer)).toMatchObject({ QAttention: 2, MatMulIntegerToFloat: 6 });
    const [wanted, found] = [await attendedStates(graph, batch), await attendedStates(integer, batch)];
    expect(largestDifference(found, wanted)).toBeLessThan(FLOAT32_ROUNDING);
  });
});

function expectSymmetric({ inputs: [data, scale, zero] }: Node): void {
  expect(data?.dtype === "int8" || zero?.dtype === "int8").toBe(true);
  expect(new Set(numbersOf(zero?.constant as Tensor))).toEqual(new Set([0]));
  expect(Math.min(...numbersOf(scale?.constant as Tensor))).toBeGreaterThan(0);
  if (data?.constant) expect(Math.min(...numbersOf(data.constant))).toBeGreaterThanOrEqual(-127);
}

/** Draws a graph, and gives every value the same range. */
function ranged(draw: (s: Sketch) => void, range: ActivationRange = { min: -2, max: 1.9 }, opset = 17) {
  const s = new Sketch(opset);
  draw(s);
  inferShapes(s.graph);
  const values = [...s.graph.inputs, ...[...s.graph.nodes].map(({ output }) => output)];
  return { graph: s.graph, ranges: new Map(values.map((value) => [value, range])) };
}

const tokens = (s: Sketch) => s.input("x", ["batch", "sequence", 8]);
const layer = (s: Sketch) => s.output(s.op("MatMul", [tokens(s), s.random([8, 6])], {}, { name: "dense" }));

/** Returns the scale of the only QuantizeLinear in a graph. */
function inputScaleIn(graph: Graph): number | undefined {
  const quantize = [...graph.nodes].find((node) => node.is("QuantizeLinear"));
  return numbersOf(quantize?.inputs[1]?.constant as Tensor)[0];
}

describe("quantizeInt8Static", () => {
  it.each<[string, (s: Sketch) => void]>([
    ["MatMul", layer],
    ["Gemm", (s) => s.output(s.op("Gemm", [s.input("x", ["batch", 8]), s.random([8, 6]), s.random([6])]))],
    [
      "Gemm with a transposed weight",
      (s) => s.output(s.op("Gemm", [s.input("x", ["batch", 8]), s.random([6, 8]), s.random([6])], { transB: 1 })),
    ],
    [
      "MatMul with a weight of zeros",
      (s) => s.output(s.op("MatMul", [tokens(s), s.floats([8, 6], new Float32Array(48))])),
    ],
  ])("quantizes to integers that onnxruntime multiplies: %s", async (_, draw) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0.5, 1.7, 2, 31), async (max) => {
        const { graph, ranges } = ranged(draw, { min: -1, max });
        const result = quantizeInt8Static(graph, ranges);
        const integer = await integerMatMuls(result);
        expect(countOperators(integer)).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1 });
        await expectSame(integer, result);
      }),
      seeded(4),
    );
  });

  it("maps the largest magnitude of a range to 127", () => {
    const { graph, ranges } = ranged(layer, { min: -2, max: 1.9 });
    expect(inputScaleIn(quantizeInt8Static(graph, ranges))).toBe(Math.fround(2 / 127));
  });

  it("keeps MatMuls of computed tensors in float32", () => {
    const { graph, ranges } = ranged((s) =>
      s.output(s.op("MatMul", [tokens(s), s.input("y", ["batch", 8, "sequence"])])),
    );
    expect(printGraph(quantizeInt8Static(graph, ranges))).toBe(printGraph(graph));
  });

  it("shares quantized weights and inputs between layers", () => {
    const { graph, ranges } = ranged((s) => {
      const [x, weight] = [tokens(s), s.random([8, 8])];
      const once = s.op("MatMul", [x, weight]);
      s.output(s.op("MatMul", [s.op("Add", [once, s.op("MatMul", [x, s.random([8, 8])])]), weight]));
    });
    expect(countOperators(quantizeInt8Static(graph, ranges))).toMatchObject({ QuantizeLinear: 2, DequantizeLinear: 4 });
  });

  it("stores the shared weight of two attentions once", () => {
    const { graph, ranges } = ranged((s) => {
      const weights = [s.random([8, 24]), s.random([24])];
      const layer = (x: Value) => s.op("Attention", [x, ...weights], { num_heads: 2 }, { domain: MICROSOFT });
      s.output(layer(layer(tokens(s))));
    });
    const result = quantizeInt8Static(graph, ranges);
    expect(countOperators(result)).toMatchObject({ QuantizeLinear: 2, DequantizeLinear: 5, MultiHeadAttention: 2 });
  });

  it("uses a scale of 1 for inputs that are always 0", () => {
    const { graph, ranges } = ranged(layer, { min: 0, max: 0 });
    expect(inputScaleIn(quantizeInt8Static(graph, ranges))).toBe(1);
  });

  it("keeps the bias in float32", () => {
    const { graph, ranges } = ranged((s) =>
      s.output(s.op("Gemm", [s.input("x", ["batch", 8]), s.random([8, 6]), s.random([6], 7)])),
    );
    const [before, after] = [graph, quantizeInt8Static(graph, ranges)].map(({ outputs }) => outputs[0]?.value.producer);
    expect(after?.inputs[2]?.constant).toEqual(before?.inputs[2]?.constant);
    expect(after?.inputs[2]?.constant).toBeDefined();
  });
});

describe("quantizeInt8Static refuses", () => {
  it.each<[string, ActivationRange]>([
    ["NaN", { min: Number.NaN, max: 1 }],
    ["infinite", { min: 0, max: Number.POSITIVE_INFINITY }],
  ])("a range that is %s", (_, range) => {
    const { graph, ranges } = ranged(layer, range);
    expect(refusal(() => quantizeInt8Static(graph, ranges))).toBe("calibration_invalid");
  });

  it("a layer without a range, by its name", () => {
    const { graph } = ranged(layer);
    expect(() => quantizeInt8Static(graph, new Map())).toThrow("dense");
  });

  it("an opset without per-channel DequantizeLinear", () => {
    const { graph, ranges } = ranged(layer, undefined, 12);
    expect(refusal(() => quantizeInt8Static(graph, ranges))).toBe("quantize_opset");
  });
});
