import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import { assertFiniteWeights } from "./finite-weights.ts";

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
