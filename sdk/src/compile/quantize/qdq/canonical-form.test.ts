import fc from "fast-check";
import { expect, it } from "vitest";
import { bytes, IN, input, OUT, quantized, signed } from "#test/fixtures/quantized-sketch.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";
import { unsignedActivations } from "./canonical-form.ts";

it("quantizes a float32 weight at build time, and keeps the float32 weight for other readers", async () => {
  const { graph, counts } = await integerForm((s) => {
    const weight = s.floats([IN, OUT], [-9, -0.5, 0.25, 0.4999, 0.5, 0.75, ...Array(IN * OUT - 6).fill(0.125)]);
    s.output(
      s.op("MatMul", [quantized(s, input(s), signed), quantized(s, weight, { dtype: "int8", scale: 0.01, zero: 0 })]),
    );
    s.output(s.op("Gather", [weight, s.input("ids", ["batch"], "int64")]), "rows");
  });
  expect(counts).toEqual({ QuantizeLinear: 1, MatMulIntegerToFloat: 1, Gather: 1 });
  const [weight] = [...graph.constants()].filter(
    ({ constant }) => constant?.dtype === "int8" && constant.shape.length === 2,
  );
  // 0.125 / 0.01 is 12.5 in float32, which rounds to the even integer, 12.
  expect(numbersOf(weight?.constant as Tensor).slice(0, 7)).toEqual([-128, -50, 25, 50, 50, 75, 12]);
});

it("keeps an integer table in integers", async () => {
  const { graph, counts } = await integerForm((s) => {
    const table = quantized(s, s.random([IN, OUT]), { dtype: "uint8", scale: 0.01, zero: 100 });
    s.output(s.op("Gather", [table, s.input("ids", ["batch"], "int64")]));
  });
  expect(counts).toEqual({ DequantizeLinear: 1, Gather: 1 });
  const tables = [...graph.constants()].filter(({ constant }) => constant?.shape.length === 2);
  expect(tables.map(({ constant }) => constant?.dtype)).toEqual(["uint8"]);
});

it("converts int8 activations to uint8 without changing results, also where they saturate", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(0.003, 0.01, 0.5), fc.integer({ min: -128, max: 127 }), async (scale, zero) => {
      const draw = (s: Sketch) => s.output(quantized(s, s.input("x", ["batch", 64]), { dtype: "int8", scale, zero }));
      const { graph } = await rewritten(draw, { optimize: only(unsignedActivations) });
      expect([...graph.nodes].map(({ output }) => output.dtype)).toEqual(["uint8", "float32"]);
    }),
    seeded(30),
  );
});

it("converts a zero point per channel", async () => {
  const zero = [-128, -1, 0, 127];
  const draw = (s: Sketch) =>
    s.output(
      quantized(s, s.input("x", ["batch", 4]), { dtype: "int8", scale: [0.1, 0.01, 0.02, 0.03], zero, axis: 1 }),
    );
  const { graph } = await rewritten(draw, { optimize: only(unsignedActivations) });
  expect([...graph.nodes].map(({ output }) => output.dtype)).toEqual(["uint8", "float32"]);
});

it("replaces output_dtype by the type of the zero point", async () => {
  const INT8 = 3;
  const draw = (s: Sketch) => {
    const scale = s.floats([], [0.01]);
    const data = s.op("QuantizeLinear", [s.input("x", ["batch", 8]), scale], { output_dtype: INT8 });
    s.output(s.op("DequantizeLinear", [data, scale]));
  };
  const { graph } = await rewritten(draw, { optimize: only(unsignedActivations), opset: 21 });
  expect([...graph.nodes].map(({ output }) => output.dtype)).toEqual(["uint8", "float32"]);
});

it.each<[string, (s: Sketch) => void]>([
  [
    "another operator reads the integers",
    (s) => {
      const scale = s.floats([], [0.01]);
      const data = s.op("QuantizeLinear", [s.input("x", ["batch", 8]), scale, s.constant(bytes("int8", [], [3]))]);
      s.output(s.op("DequantizeLinear", [data, scale, s.constant(bytes("int8", [], [3]))]));
      s.output(s.op("Reshape", [data, [-1]]), "data");
    },
  ],
  [
    "the integers are an output of the graph",
    (s) => {
      const [scale, zero] = [s.floats([], [0.01]), s.constant(bytes("int8", [], [3]))];
      const data = s.op("QuantizeLinear", [s.input("x", ["batch", 8]), scale, zero]);
      s.output(s.op("DequantizeLinear", [data, scale, zero]));
      s.output(data, "data");
    },
  ],
  [
    "the zero point is computed",
    (s) => {
      const [scale, zero] = [s.floats([], [0.01]), s.input("zero", [], "int8")];
      const data = s.op("QuantizeLinear", [s.input("x", ["batch", 8]), scale, zero]);
      s.output(s.op("DequantizeLinear", [data, scale, zero]));
    },
  ],
  [
    "there is a scale per channel, but no zero point",
    (s) => {
      const INT8 = 3;
      const scale = s.floats([4], [0.1, 0.01, 0.02, 0.03]);
      const data = s.op("QuantizeLinear", [s.input("x", ["batch", 4]), scale], { axis: 1, output_dtype: INT8 });
      s.output(s.op("DequantizeLinear", [data, scale], { axis: 1 }));
    },
  ],
])("keeps int8 if %s", async (_, draw) => {
  const { graph } = await rewritten(draw, { optimize: only(unsignedActivations), opset: 21 });
  expect([...graph.nodes].map(({ output }) => output.dtype)).not.toContain("uint8");
});
