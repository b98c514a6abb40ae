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
  randomBytes,
  signed,
  small,
  unsigned,
} from "#test/fixtures/quantized-sketch.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
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

describe("QLinearMatMul", () => {
  it.each<[string, Grid, Grid]>([
    ["int8", signed, small],
    ["uint8", unsigned, { dtype: "uint8", scale: 0.01, zero: 130 }],
    ["a scale for every column", unsigned, { dtype: "int8", scale: columns, axis: 1 }],
    [
      "a scale and a zero point for every column",
      signed,
      { dtype: "int8", scale: columns, zero: [1, 2, 3, 4, 5, 6], axis: 1 },
    ],
  ])("replaces a MatMul whose result is quantized again: %s", async (_, x, weight) => {
    const { counts } = await integerForm((s) => s.output(quantized(s, product(s, x, weight), { ...x, scale: 0.0531 })));
    expect(counts).toEqual({ QuantizeLinear: 1, QLinearMatMul: 1, DequantizeLinear: 1 });
  });

  it("is not used if the float result is also read", async () => {
    const { counts } = await integerForm((s) => {
      const result = product(s);
      s.output(quantized(s, result, signed), "again");
      s.output(result, "itself");
    });
    expect(counts).toEqual({ QuantizeLinear: 2, MatMulIntegerToFloat: 1, DequantizeLinear: 1 });
  });

  it("is not used if the result has a scale for every column", async () => {
    const { counts } = await integerForm((s) =>
      s.output(
        quantized(s, product(s), {
          dtype: "int8",
          scale: columns.map((c) => 1.0193 * c),
          zero: columns.map(() => 0),
          axis: 2,
        }),
      ),
    );
    expect(counts).toEqual({ QuantizeLinear: 2, MatMulIntegerToFloat: 1, DequantizeLinear: 1 });
  });
});
