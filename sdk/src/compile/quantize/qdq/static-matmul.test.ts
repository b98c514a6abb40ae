import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  columns,
  type Grid,
  IN,
  input,
  integerWeight,
  OUT,
  product,
  quantized,
  signed,
  small,
  unsigned,
} from "#test/fixtures/quantized-sketch.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";
import type { Value } from "../../graph/node.ts";

const scale = fc.constantFrom(0.00031, 0.0023, 0.0071);
const zeroOf = (dtype: Grid["dtype"]) =>
  dtype === "int8" ? fc.integer({ min: -20, max: 20 }) : fc.integer({ min: 0, max: 255 });
const tensorGrid = fc.constantFrom<Grid["dtype"]>("int8", "uint8").chain((dtype) =>
  fc.record({
    dtype: fc.constant(dtype),
    scale,
    zero: fc.option(zeroOf(dtype), { nil: undefined }),
  }),
);
const columnGrid = fc.constantFrom<Grid["dtype"]>("int8", "uint8").chain((dtype) =>
  fc.record({
    dtype: fc.constant(dtype),
    scale: fc.array(scale, { minLength: OUT, maxLength: OUT }),
    zero: fc.option(fc.array(zeroOf(dtype), { minLength: OUT, maxLength: OUT }), { nil: undefined }),
  }),
);

describe("MatMulIntegerToFloat", () => {
  it("replaces a quantized MatMul with any types, scales, zero points and layout", async () => {
    await fc.assert(
      fc.asyncProperty(
        tensorGrid,
        fc.oneof(tensorGrid, columnGrid),
        fc.boolean(),
        fc.boolean(),
        async (x, weight, isTransposed, isBiased) => {
          const { counts } = await integerForm((s) => {
            const axis = Array.isArray(weight.scale) ? { axis: isTransposed ? 0 : 1 } : {};
            const matrix = integerWeight(s, isTransposed ? [OUT, IN] : [IN, OUT], { ...weight, ...axis });
            const right = isTransposed ? s.op("Transpose", [matrix], { perm: [1, 0] }) : matrix;
            const result = s.op("MatMul", [quantized(s, input(s), x), right]);
            s.output(isBiased ? s.op("Add", [s.random([OUT]), result]) : result);
          });
          expect(counts).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1 });
        },
      ),
      seeded(40),
    );
  });

  it.each([0, 1])("replaces a Gemm with a bias, transB %i", async (transB) => {
    const { counts } = await integerForm((s) => {
      const matrix = integerWeight(s, transB ? [OUT, IN] : [IN, OUT], {
        dtype: "int8",
        scale: columns,
        axis: 1 - transB,
      });
      s.output(s.op("Gemm", [quantized(s, s.input("x", ["batch", IN]), signed), matrix, s.random([OUT])], { transB }));
    });
    expect(counts).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1 });
  });

  it("adds a bias that is stored as int32", async () => {
    const { counts } = await integerForm((s) => {
      const bias = s.constant({
        dtype: "int32",
        shape: [OUT],
        data: new Uint8Array(Int32Array.from(columns, (c) => c * 1e5).buffer),
      });
      const real = s.op("DequantizeLinear", [bias, s.floats([], [1e-4])]);
      s.output(s.op("Add", [product(s), real]));
    });
    expect(counts).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1 });
  });

  it("stores a weight once and quantizes an input once for several MatMuls", async () => {
    const { graph, counts } = await integerForm((s) => {
      const [x, w] = [quantized(s, input(s), signed), integerWeight(s, [OUT, IN], small)];
      const transposed = s.op("Transpose", [w], { perm: [1, 0] });
      s.output(s.op("MatMul", [x, transposed]), "a");
      s.output(s.op("Relu", [s.op("MatMul", [x, transposed])]), "b");
      s.output(s.op("MatMul", [quantized(s, s.op("Neg", [s.graph.inputs[0] as Value]), signed), transposed]), "c");
    });
    expect(counts).toMatchObject({ QuantizeLinear: 2, MatMulIntegerToFloat: 2 });
    const weights = [...graph.constants()].filter(({ constant }) => constant?.shape.length === 2);
    expect(weights).toHaveLength(1);
  });
});

describe("a MatMul stays in float32", () => {
  const inputScales = Array.from({ length: IN }, (_, i) => 0.01 * (i + 1));
  it.each<[string, (s: Sketch) => Value]>([
    [
      "with a scale per input channel",
      (s) => product(s, { dtype: "uint8", scale: inputScales, zero: inputScales.map(() => 9), axis: 2 }),
    ],
    ["with a scale per row of its weight", (s) => product(s, signed, { dtype: "int8", scale: inputScales, axis: 0 })],
    [
      "with a scale per row of its transposed weight",
      (s) => {
        const weight = integerWeight(s, [OUT, IN], { dtype: "int8", scale: inputScales, axis: 1 });
        return s.op("MatMul", [quantized(s, input(s), signed), s.op("Transpose", [weight], { perm: [1, 0] })]);
      },
    ],
    [
      "with int8 activations and uint8 weights",
      (s) => {
        const x = s.op("DequantizeLinear", [s.input("x", ["batch", "sequence", IN], "int8"), s.floats([], [0.1])]);
        return s.op("MatMul", [x, integerWeight(s, [IN, OUT], { ...unsigned, scale: 0.01 })]);
      },
    ],
    ["with only its weight quantized", (s) => s.op("MatMul", [input(s), integerWeight(s, [IN, OUT], small)])],
    [
      "of two computed tensors",
      (s) => {
        const x = quantized(s, input(s), signed);
        return s.op("MatMul", [x, s.op("Transpose", [x], { perm: [0, 2, 1] })]);
      },
    ],
    [
      "as a Gemm with alpha and beta",
      (s) => {
        const inputs = [quantized(s, s.input("x", ["batch", IN]), signed), integerWeight(s, [IN, OUT], small)];
        return s.op("Gemm", inputs, { alpha: { float: 0.5 } });
      },
    ],
  ])("%s", async (_, draw) => {
    const { counts } = await integerForm((s) => s.output(draw(s)), { below: { x: 120 } });
    expect((counts["MatMul"] ?? 0) + (counts["Gemm"] ?? 0)).toBe(1);
    expect(counts).not.toHaveProperty("MatMulIntegerToFloat");
  });

  it("while another MatMul with the same weight becomes an integer operator", async () => {
    const { counts } = await integerForm((s) => {
      const weight = integerWeight(s, [IN, OUT], small);
      s.output(s.op("MatMul", [quantized(s, input(s), signed), weight]), "integer");
      s.output(s.op("MatMul", [s.graph.inputs[0] as Value, weight]), "float");
    });
    expect(counts).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1, DequantizeLinear: 1, MatMul: 1 });
  });
});
