import { describe, expect, it } from "vitest";
import { columns, type Grid, product, quantized, signed, small, unsigned } from "#test/fixtures/quantized-sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";

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
