import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { type Tensor, tensor } from "../../compile/graph/tensor.ts";
import { encodeOnnx } from "../../compile/onnx/to-onnx.ts";
import { assertFiniteOnnx } from "./assert-finite-onnx.ts";

/** Encodes a model that adds a constant. */
function fileWith(constant: Tensor): Uint8Array {
  const s = new Sketch();
  s.output(s.op("Add", [s.input("x", ["batch", 3]), s.constant(constant)]));
  return encodeOnnx(s.graph);
}
const floats = (...values: number[]) => tensor("float32", [values.length], Float32Array.from(values));
const halves = (...values: number[]) => tensor("float16", [values.length], Float16Array.from(values));
const [nan, infinity] = [Number.NaN, Number.POSITIVE_INFINITY];
/** More numbers than are looked at in one part. */
const MANY = 40_000;

/** The bytes of a message's field, with their length before them. */
const field = (number: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> =>
  Uint8Array.of(8 * number + 2, bytes.length, ...bytes);

describe("assertFiniteOnnx", () => {
  it.each<[string, Tensor]>([
    ["NaN", floats(1, nan, 2)],
    ["a single NaN", floats(nan)],
    ["infinity", floats(1, infinity, 2)],
    ["minus infinity among other numbers", floats(1, -infinity, 0)],
    ["NaN as the last of many", floats(...Array(MANY).fill(1), nan)],
    ["NaN in float16", halves(1, nan, 2)],
    ["infinity in float16", halves(1, infinity)],
    ["minus infinity in float16", halves(-infinity, 0.5)],
  ])("refuses %s, and names the tensor", (_, constant) => {
    expect(refusal(() => assertFiniteOnnx(fileWith(constant)))).toBe("model_invalid");
    expect(() => assertFiniteOnnx(fileWith(constant))).toThrow("The tensor constant of the model");
  });

  it.each<[string, Tensor]>([
    ["finite numbers", floats(-3.4e38, 0, 1e-45)],
    ["finite numbers in float16", halves(65_504, -0, 6e-8)],
    ["a mask", floats(0, -infinity, -infinity)],
    ["a mask in float16", halves(-0, -infinity)],
    ["a bound", floats(infinity)],
    ["integers", tensor("int64", [1], BigInt64Array.of(2n ** 63n - 1n))],
    ["nothing", floats()],
  ])("accepts %s", (_, constant) => {
    expect(refusal(() => assertFiniteOnnx(fileWith(constant)))).toBe("accepted");
  });

  it("looks into the constants of nodes, and into numbers that are not raw bytes", () => {
    const bad = new Uint8Array(Float32Array.of(1, nan).buffer);
    const unraw = Uint8Array.of(...[2 * 8, 1], ...field(4, bad));
    const node = field(1, field(5, field(5, unraw)));
    expect(refusal(() => assertFiniteOnnx(field(7, node)))).toBe("model_invalid");
  });

  it("leaves files that are no ONNX files to onnxruntime", () => {
    const file = fileWith(floats(1, nan));
    for (let end = 0; end < file.length; end++) {
      expect(["accepted", "model_invalid"]).toContain(refusal(() => assertFiniteOnnx(file.subarray(0, end))));
    }
    expect(refusal(() => assertFiniteOnnx(new Uint8Array(9).fill(0xff)))).toBe("accepted");
  });
});
