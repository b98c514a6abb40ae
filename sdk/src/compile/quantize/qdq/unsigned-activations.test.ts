import fc from "fast-check";
import { expect, it } from "vitest";
import { bytes, quantized } from "#test/fixtures/quantized-sketch.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { only, rewritten } from "#test/oracles/rewritten.ts";
import { unsignedActivations } from "./unsigned-activations.ts";

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
