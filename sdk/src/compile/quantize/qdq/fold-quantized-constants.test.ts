import { expect, it } from "vitest";
import { IN, input, OUT, quantized, signed } from "#test/fixtures/quantized-sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";

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
