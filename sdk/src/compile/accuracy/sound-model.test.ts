import { describe, expect, it } from "vitest";
import { statisticsOf } from "#test/fixtures/activation-statistics.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import type { ActivationStatistics } from "../quantize/calibration/activation-statistics.ts";
import { assertFiniteWeights, assertVaries } from "./sound-model.ts";

function graphWith(constant: Tensor) {
  const s = new Sketch();
  const x = s.input("x", ["batch", 3]);
  s.output(s.op("Add", [x, s.constant(constant)], {}, { name: "shifted" }));
  return s.graph;
}
const floats = (...values: number[]) => tensor("float32", [values.length], Float32Array.from(values));
const [nan, infinity] = [Number.NaN, Number.POSITIVE_INFINITY];

describe("assertFiniteWeights", () => {
  it.each<[string, Tensor]>([
    ["NaN", floats(1, nan, 2)],
    ["a single NaN", floats(nan)],
    ["infinity", floats(1, infinity, 2)],
    ["infinity among zeros", floats(0, infinity, 0)],
    ["minus infinity among other numbers", floats(1, -infinity, 0)],
    ["NaN in float16", tensor("float16", [3], Float16Array.of(1, nan, 2))],
    [
      "infinity in float64",
      { dtype: "float64", shape: [2], data: new Uint8Array(Float64Array.of(1, infinity).buffer) },
    ],
  ])("refuses %s, and names the constant and the node that reads it", (_, constant) => {
    expect(refusal(() => assertFiniteWeights(graphWith(constant), "model.onnx"))).toBe("weights_invalid");
    expect(() => assertFiniteWeights(graphWith(constant), "model.onnx")).toThrow(
      "model.onnx: constant, which shifted reads, holds NaN or infinite numbers.",
    );
  });

  it.each<[string, Tensor]>([
    ["finite numbers", floats(-3.4e38, 0, 1e-45)],
    ["a mask", floats(0, -infinity, -infinity)],
    ["a bound", floats(infinity)],
    ["integers", tensor("int64", [1], BigInt64Array.of(2n ** 63n - 1n))],
    ["nothing", floats()],
  ])("accepts %s", (_, constant) => {
    expect(refusal(() => assertFiniteWeights(graphWith(constant), "model.onnx"))).toBe("accepted");
  });
});

const vector = (...values: number[]) => Float32Array.from(values);

const statistics = (...entries: [string, ActivationStatistics][]) => ({
  weights: entries.map(([weight]) => weight),
  get: (weight: string) => new Map(entries).get(weight),
});

const varying = statisticsOf([vector(1, 2), vector(1, 3)]);
const constant = statisticsOf([vector(1, 2), vector(1, 2), vector(1, 2)]);
const alike = [vector(1, 2), vector(1, 2)];

describe("assertVaries", () => {
  it.each([
    ["one number of one text differs", [vector(1, 2), vector(1, 2), vector(1, 2.001)]],
    ["a small number next to a large one differs by more than rounding", [vector(1000, 0), vector(1000, 0.02)]],
  ])("accepts a model when %s", (_, results) => {
    expect(refusal(() => assertVaries(results, statistics()))).toBe("accepted");
  });

  it.each([
    ["are equal", alike],
    ["differ by rounding of the largest number", [vector(1000, 0.001), vector(1000.001, 0.002)]],
    ["are all zero", [vector(0, 0), vector(0, 0)]],
    ["are only one vector", [vector(1, 2)]],
    ["are empty", []],
  ])("refuses models whose results %s", (_, results) => {
    expect(refusal(() => assertVaries(results, statistics(["weight", varying])))).toBe("model_constant");
  });

  it("names the first weight matrix whose input is the same for all tokens, or the last one", () => {
    const named =
      (...calibration: [string, ActivationStatistics][]) =>
      () =>
        assertVaries(alike, statistics(...calibration));
    expect(named(["first", varying], ["second", constant], ["third", constant])).toThrow(
      "The model computes the same result for every text: the input of second is the same for all tokens.",
    );
    expect(named(["first", varying], ["last", varying])).toThrow(
      "The model computes the same result for every text: the input of last differs between texts, but the model's result does not.",
    );
    expect(named()).toThrow(/for every text\.$/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY])("does not count %d as a difference", (value) => {
    const work = () => assertVaries([vector(1, 2), vector(value, 2)], statistics(["last", varying]));
    expect(work).toThrow("The float32 model computes NaN or infinite numbers after last.");
    expect(refusal(work)).toBe("vector_invalid");
  });
});
