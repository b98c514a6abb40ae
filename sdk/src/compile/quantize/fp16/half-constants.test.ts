import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { tensor, toFloat32 } from "../../graph/tensor.ts";
import { biasToHalf, MIN_BIAS, survives, toHalf } from "./half-constants.ts";

const matrix = (columns: number, ...values: number[]) =>
  tensor("float32", [values.length / columns, columns], Float32Array.from(values));

describe("survives", () => {
  it("accepts all numbers in float16's normal range", () => {
    const magnitude = fc.double({ min: 2 ** -14, max: 65_504, noNaN: true });
    const number = fc.oneof(
      fc.constant(0),
      magnitude,
      magnitude.map((value) => -value),
    );
    fc.assert(
      fc.property(fc.array(number, { minLength: 1 }), (values) => {
        const value = matrix(values.length, ...values);
        expect([survives(value, undefined), survives(value, 1)]).toEqual([true, true]);
      }),
      seeded(200),
    );
  });

  it("refuses a tensor with a number that is not finite in float16", () => {
    const beyond = fc.constantFrom(
      65_520,
      -7e4,
      3.4e38,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
    );
    fc.assert(
      fc.property(fc.array(fc.float({ min: -1, max: 1, noNaN: true })), beyond, (others, value) => {
        expect(survives(matrix(1, ...others, value), undefined)).toBe(false);
      }),
      seeded(100),
    );
  });

  it.each<[string, boolean, number | undefined, number[]]>([
    ["a small number among large ones", true, undefined, [1e-9, 1, 1, 1]],
    ["a column that would become zero", false, 1, [1e-9, 1, 1e-9, 1]],
    ["a column that would keep few digits", false, 1, [3e-7, 1, 1e-7, 1]],
    ["a column of zeros", true, 1, [0, 1, 0, 1]],
    ["a row that would become zero, when columns are channels", true, 1, [1e-9, 1e-9, 1, 1]],
    ["a row that would become zero, when rows are channels", false, 0, [1e-9, 1e-9, 1, 1]],
    ["65504, and 65519, which rounds to it", true, undefined, [65_504, 65_519, 0, 0]],
  ])("%s: %s", (_, expected, axis, values) => {
    expect(survives(matrix(2, ...values), axis)).toBe(expected);
  });
});

it("toHalf rounds to the nearest", () => {
  expect([...toFloat32(toHalf(matrix(3, 1 / 3, -2, 65_504)))]).toEqual([0.333_251_953_125, -2, 65_504]);
});

it("biasToHalf keeps the sum with a score finite", () => {
  const found = [...toFloat32(biasToHalf(matrix(4, Number.NEGATIVE_INFINITY, -3.4e38, -1e4, 0.5)))];
  expect(found).toEqual([MIN_BIAS, MIN_BIAS, -1e4, 0.5]);
  // The sum of two biases and a score is still finite.
  expect(Number.isFinite(Math.f16round(2 * MIN_BIAS + 32))).toBe(true);
});
