import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { I8, type OperandRange, U7 } from "#sdk/runtime/engine/wasm/constants/operand-ranges.ts";
import { seeded } from "../../fixtures/seeded.ts";
import { integerProduct } from "./integer-product.ts";
import { type IntegerWeight, quantizedLinear } from "./linear.ts";
import { quantizeRows } from "./quantize-rows.ts";

/**
 * Maximum relative errors. The product is rounded three times: when the integer sum becomes a float32, when the scale
 * is computed, and when the two are multiplied. The sum with the bias is rounded once.
 */
const [OF_PRODUCT, OF_SUM] = [3 * 2 ** -24, 2 ** -24];
const SECOND_ORDER = 1 + 2 ** -20;
/** Maximum rounding error of the sum that the test computes in float64. */
const FLOAT64_ROUNDING = 2 ** -46;

/** Draws multiples of 0.01, so that no scale is denormal. */
const floats = (length: number, reach: number) =>
  fc
    .array(fc.integer({ min: -100 * reach, max: 100 * reach }), { minLength: length, maxLength: length })
    .map((all) => Float32Array.from(all, (value) => value / 100));
const size = fc.constantFrom(1, 2, 3, 5, 7, 33);

const given = (range: OperandRange) =>
  fc.record({ rows: size, inputs: size, outputs: size }).chain(({ rows, inputs, outputs }) => {
    const whole = (length: number) =>
      fc.array(fc.integer({ min: range.min, max: range.max }), { minLength: length, maxLength: length });
    return fc.record({
      x: floats(rows * inputs, 100),
      values: whole(inputs * outputs).map((all) => (range.min < 0 ? Int8Array.from(all) : Uint8Array.from(all))),
      zeroPoints: whole(outputs).map((all) => Int32Array.from(all)),
      scales: fc.float32Array({ minLength: outputs, maxLength: outputs, min: Math.fround(1e-6), max: 10, noNaN: true }),
      bias: fc.option(floats(outputs, 100), { nil: undefined }),
    });
  });

const sumsOf = (values: ArrayLike<number>, width: number) =>
  Int32Array.from({ length: values.length / width }, (_, row) =>
    Array.from({ length: width }, (_, i) => values[row * width + i] as number).reduce(
      (total, value) => total + value,
      0,
    ),
  );

describe.each<[string, OperandRange, OperandRange]>([
  ["weights of seven bits and signed activations", U7, I8],
  ["signed weights and activations of seven bits", I8, U7],
])("quantizedLinear, %s", (_, ofWeight, ofActivation) => {
  it("computes the linear layer of the dequantized operands, within the rounding of float32", async () => {
    await fc.assert(
      fc.asyncProperty(given(ofWeight), async ({ x, values, zeroPoints, scales, bias }) => {
        const [outputs, inputs] = [scales.length, values.length / scales.length];
        const weight: IntegerWeight = { values, scales, zeroPoints, sums: sumsOf(values, inputs), bias };
        const found = await quantizedLinear(x, weight, ofActivation, integerProduct);
        expect(found).toHaveLength((x.length / inputs) * outputs);
        const rows = quantizeRows(x, inputs, ofActivation);
        found.forEach((value, at) => {
          const [row, output] = [Math.floor(at / outputs), at % outputs];
          let [product, size] = [0, 0];
          for (let i = 0; i < inputs; i++) {
            const a =
              (rows.scales[row] as number) *
              ((rows.values[row * inputs + i] as number) - (rows.zeroPoints[row] as number));
            const w =
              (scales[output] as number) * ((values[output * inputs + i] as number) - (zeroPoints[output] as number));
            product += a * w;
            size += Math.abs(a * w);
          }
          const wanted = product + (bias?.[output] ?? 0);
          const bound =
            (OF_PRODUCT * Math.abs(product) + OF_SUM * Math.abs(wanted)) * SECOND_ORDER + FLOAT64_ROUNDING * size;
          expect(Math.abs(value - wanted)).toBeLessThanOrEqual(bound);
        });
      }),
      seeded(200),
    );
  });

  it("returns NaN or infinity only for rows that contain one", async () => {
    const weight: IntegerWeight = {
      values: ofWeight.min < 0 ? Int8Array.of(1, 2) : Uint8Array.of(1, 2),
      scales: Float32Array.of(1),
      zeroPoints: Int32Array.of(0),
      sums: Int32Array.of(3),
      bias: undefined,
    };
    const x = Float32Array.of(Number.NaN, 1, 1, 1, Number.POSITIVE_INFINITY, 1);
    const found = await quantizedLinear(x, weight, ofActivation, integerProduct);
    expect([...found].map(Number.isFinite)).toEqual([false, true, false]);
    expect(found[1]).toBeCloseTo(3, 5);
  });
});
