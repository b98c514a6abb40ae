import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  type IntegerRange,
  minErrorParameters,
  minMaxParameters,
  type QuantizationParameters,
  quantizeNumber,
} from "./quantization-parameters.ts";

/**
 * Maximum rounding error divided by the scale. Rounding to an integer causes at most 0.5. Rounding the scale to float32
 * causes the rest, because the scale is multiplied by integers up to 255.
 */
const HALF_A_SCALE = 0.5 + 255 * 2 ** -23;

const channel = fc
  .array(
    fc.oneof(
      fc.float({ noNaN: true, min: -1, max: 1 }),
      fc.float({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0, 2 ** -149, -(2 ** -130)),
    ),
    { minLength: 1, maxLength: 20 },
  )
  .map((values) => Float32Array.from(values));
const importance = (width: number) =>
  fc.option(
    fc
      .array(fc.oneof(fc.double({ min: 0, max: 100, noNaN: true }), fc.constant(0)), {
        minLength: width,
        maxLength: width,
      })
      .map((values) => Float64Array.from(values)),
    { nil: undefined },
  );
const weighted = channel.chain((weights) => fc.tuple(fc.constant(weights), importance(weights.length)));

const cost = (
  weights: Float32Array,
  parameters: QuantizationParameters,
  integers: IntegerRange,
  counts: Float64Array | undefined,
) =>
  weights.reduce(
    (sum, weight, i) =>
      sum +
      (weight - parameters.scale * (quantizeNumber(weight, parameters, integers) - parameters.zeroPoint)) ** 2 *
        (counts?.[i] ?? 1),
    0,
  );

describe.each<[string, IntegerRange]>([
  ["signed and symmetric", { min: -127, max: 127, symmetric: true }],
  ["signed", { min: -128, max: 127, symmetric: false }],
  ["7-bit", { min: 0, max: 127, symmetric: false }],
  ["4-bit", { min: 0, max: 15, symmetric: false }],
])("quantization parameters, %s", (_, integers) => {
  it("have an error of at most half a scale without clipping, and represent zero exactly", () => {
    fc.assert(
      fc.property(channel, (weights) => {
        const parameters = minMaxParameters(weights, integers);
        expect(parameters.scale).toBe(Math.fround(parameters.scale));
        expect(parameters.scale > 0 && Number.isFinite(parameters.scale)).toBe(true);
        expect(quantizeNumber(0, parameters, integers)).toBe(parameters.zeroPoint);
        if (integers.symmetric) expect(parameters.zeroPoint).toBe(0);
        for (const weight of weights) {
          const error =
            weight / parameters.scale - (quantizeNumber(weight, parameters, integers) - parameters.zeroPoint);
          expect(Math.abs(error)).toBeLessThanOrEqual(HALF_A_SCALE);
        }
      }),
      seeded(300),
    );
  });

  it("map every number to an integer of the range", () => {
    fc.assert(
      fc.property(channel, fc.double({ noNaN: true }), (weights, any) => {
        for (const parameters of [minMaxParameters(weights, integers), minErrorParameters(weights, integers)]) {
          const integer = quantizeNumber(any, parameters, integers);
          expect(integer >= integers.min && integer <= integers.max).toBe(true);
          expect(Number.isInteger(integer) && Number.isInteger(parameters.zeroPoint)).toBe(true);
          expect(parameters.zeroPoint >= integers.min && parameters.zeroPoint <= integers.max).toBe(true);
        }
      }),
      seeded(300),
    );
  });

  it("never have a larger weighted squared error with clipping", () => {
    fc.assert(
      fc.property(weighted, ([weights, counts]) => {
        const best = cost(weights, minErrorParameters(weights, integers, counts), integers, counts);
        expect(best).toBeLessThanOrEqual(cost(weights, minMaxParameters(weights, integers), integers, counts));
      }),
      seeded(300),
    );
  });
});

describe("minErrorParameters", () => {
  const integers: IntegerRange = { min: 0, max: 15, symmetric: false };
  const weights = Float32Array.from({ length: 64 }, (_, i) => (i === 0 ? 1.4 : Math.sin(i) ** 3));

  it("clips an outlier unless its input is important", () => {
    const full = minMaxParameters(weights, integers);
    expect(minErrorParameters(weights, integers).scale).toBeLessThan(full.scale);
    const counts = Float64Array.from({ length: 64 }, (_, i) => (i === 0 ? 1000 : 0.001));
    const kept = minErrorParameters(weights, integers, counts);
    const error = (parameters: QuantizationParameters) =>
      Math.abs(1.4 - parameters.scale * (quantizeNumber(1.4, parameters, integers) - parameters.zeroPoint));
    expect(error(kept)).toBeLessThan(error(minErrorParameters(weights, integers)));
  });
});
