import { describe, expect, it } from "vitest";
import { columns, type Grid, IN, input, OUT, randomBytes } from "#test/fixtures/quantized-sketch.ts";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";
import type { Value } from "../../graph/node.ts";

interface Parts {
  readonly dtype?: Grid["dtype"];
  /** Shape of the weight's scale and zero point. */
  readonly scaleShape?: readonly number[];
  readonly bias?: boolean;
  readonly to?: number;
}

const quantize = (s: Sketch, x: Value) =>
  s.node("DynamicQuantizeLinear", [x], {}, { outputs: ["data", "scale", "zero"] }).outputs as Value[];

/** Draws float((x − z) · (W − y)) · (s · t) + b, as onnxruntime's quantize_dynamic writes it. */
function dynamic(s: Sketch, [x, scale, zero]: readonly (Value | undefined)[], parts: Parts = {}): Value {
  const { dtype = "int8", scaleShape = [], bias = true, to = CAST.float32 } = parts;
  const weight = s.constant(randomBytes(s, dtype, [IN, OUT]));
  const [weightScale, weightZero] = [
    s.floats(scaleShape, scaleShape.length ? columns : [0.0031]),
    s.constant(randomBytes(s, dtype, scaleShape)),
  ];
  const sums = s.op("MatMulInteger", [x, weight, zero, weightZero]);
  const result = s.op("Mul", [s.op("Cast", [sums], { to }), s.op("Mul", [scale, weightScale])]);
  return bias ? s.op("Add", [s.random([OUT]), result]) : result;
}

describe("the fusion of a dynamically quantized MatMul", () => {
  it.each<[string, Parts]>([
    ["int8", {}],
    ["uint8", { dtype: "uint8" }],
    ["int8 with a scale and a zero point for every column", { scaleShape: [OUT] }],
    ["uint8 with a scale and a zero point for every column", { dtype: "uint8", scaleShape: [OUT] }],
    ["int8 without a bias", { bias: false }],
  ])("makes one operator of %s", async (_, parts) => {
    const { graph, counts } = await integerForm((s) => s.output(dynamic(s, quantize(s, input(s)), parts)));
    expect(counts).toEqual({ DynamicQuantizeMatMul: 1 });
    const [node] = graph.nodes;
    expect(node?.inputs[4] !== undefined).toBe(parts.bias ?? true);
  });

  it("quantizes an input once for two MatMuls with different scales", async () => {
    const { counts } = await integerForm((s) => {
      const x = quantize(s, input(s));
      s.output(dynamic(s, x), "a");
      s.output(dynamic(s, x, { scaleShape: [OUT] }), "b");
    });
    expect(counts).toEqual({ DynamicQuantizeLinear: 1, MatMulIntegerToFloat: 2 });
  });

  it("quantizes an input once for two MatMuls with equal scales", async () => {
    const { counts } = await integerForm((s) => {
      const x = quantize(s, input(s));
      s.output(dynamic(s, x), "a");
      s.output(dynamic(s, x), "b");
    });
    expect(counts).toEqual({ DynamicQuantizeLinear: 1, MatMulIntegerToFloat: 2 });
  });

  it("folds one bias", async () => {
    const { counts } = await integerForm((s) =>
      s.output(s.op("Relu", [s.op("Add", [dynamic(s, quantize(s, input(s))), s.random([OUT])])])),
    );
    expect(counts).toEqual({ DynamicQuantizeMatMul: 1, Add: 1, Relu: 1 });
  });

  it("does not fold a bias if the result without bias is also read", async () => {
    const { counts } = await integerForm((s) => {
      const result = dynamic(s, quantize(s, input(s)), { bias: false });
      s.output(s.op("Add", [result, s.random([OUT])]), "sum");
      s.output(result, "without bias");
    });
    expect(counts).toEqual({ DynamicQuantizeMatMul: 1, Add: 1 });
  });

  it("keeps standard operators if the integer result is also read", async () => {
    const { counts } = await integerForm((s) => {
      s.output(dynamic(s, quantize(s, input(s))));
      const sums = [...s.graph.nodes].find(({ opType }) => opType === "MatMulInteger");
      s.output(sums?.output as Value, "sums");
    });
    expect(counts).toMatchObject({ MatMulInteger: 1, Cast: 1, Mul: 2 });
  });

  it("keeps standard operators if the input has a scale per row", async () => {
    const { counts } = await integerForm((s) => {
      const [x, , zero] = quantize(s, input(s));
      s.output(dynamic(s, [x, s.input("scale", ["batch", "sequence", 1]), zero]));
    });
    expect(counts).toMatchObject({ MatMulInteger: 1 });
  });
});
