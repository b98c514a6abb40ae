import type * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { runModel, type Tensors } from "#test/oracles/run-model.ts";
import { type DataType, elementSize } from "../graph/tensor.ts";
import { encodeModel, type PartialMessage } from "../proto/encode-model.ts";
import type { TensorProto } from "../proto/onnx-messages.ts";
import { dataTypeOf, dataTypes, tensorOf, toTensorProto } from "./tensor-proto.ts";

const types = Object.keys(dataTypes) as DataType[];
const LARGEST = 2n ** 63n - 1n;

/**
 * Test data for each type: the fields of a tensor that hold its numbers. Includes the minimum and maximum of integers.
 */
const numbers: Readonly<Record<DataType, PartialMessage<TensorProto>>> = {
  float32: { floatData: [1.5, -0, 3e38] },
  float64: { doubleData: [Math.PI, -1e300, 5e-324] },
  float16: { int32Data: [0x3c00, 0xfbff, 1] },
  bfloat16: { int32Data: [0x3f80, 0xff7f, 1] },
  int64: { int64Data: [LARGEST, -LARGEST - 1n, -1n] },
  int32: { int32Data: [2 ** 31 - 1, -(2 ** 31), -1] },
  int16: { int32Data: [32_767, -32_768, -1] },
  int8: { int32Data: [127, -128, -1] },
  uint64: { uint64Data: [2n ** 64n - 1n, 0n, 1n] },
  uint32: { uint64Data: [2n ** 32n - 1n, 0n, 1n] },
  uint16: { int32Data: [65_535, 0, 1] },
  uint8: { int32Data: [255, 0, 1] },
  bool: { int32Data: [1, 0, 1] },
};

/** Reads a tensor from a file. */
function protoOf(draft: PartialMessage<TensorProto>): TensorProto {
  const [read] = modelOf({ initializer: [draft] }).graph?.initializer ?? [];
  return read as TensorProto;
}

describe("tensorOf", () => {
  // onnxruntime-node has no bfloat16.
  it.each(types.filter((dtype) => dtype !== "bfloat16"))("reads numbers of %s as onnxruntime does", async (dtype) => {
    const draft = { name: "t", dims: [3n], dataType: dataTypes[dtype], ...numbers[dtype] };
    const model = modelOf({ initializer: [draft], node: [nodeOf("y = Identity(t)")], output: [{ name: "y" }] });
    const [outputs] = (await runModel(encodeModel(model).finish(), [{}])) as [Tensors];
    const { type, data } = outputs["y"] as ort.Tensor;
    const { buffer, byteOffset, byteLength } = data as Float32Array;
    expect(type).toBe(dtype);
    expect(tensorOf(protoOf(draft))).toEqual({
      dtype,
      shape: [3],
      data: new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength),
    });
  });

  it.each(types)("reproduces %s after writing", (dtype) => {
    const tensor = { dtype, shape: [2, 1], data: Uint8Array.from({ length: 2 * elementSize[dtype] }, (_, i) => i) };
    expect(tensorOf(protoOf(toTensorProto("t", tensor)))).toEqual(tensor);
    expect(dataTypeOf(dataTypes[dtype])).toBe(dtype);
  });

  it("reads bfloat16 as the upper 16 bits of a float32", () => {
    const draft = { dims: [3n], dataType: dataTypes.bfloat16, ...numbers.bfloat16 };
    expect(tensorOf(protoOf(draft))?.data).toEqual(Uint8Array.of(0x80, 0x3f, 0x7f, 0xff, 1, 0));
  });

  it("returns a view of the file", () => {
    const proto = protoOf(toTensorProto("t", { dtype: "float32", shape: [1], data: new Uint8Array(4) }));
    expect(tensorOf(proto)?.data).toBe(proto.rawData);
  });

  it.each([0, 8, 14, 15, 17, 22, 99, -1])("returns undefined for type %s", (dataType) => {
    expect(tensorOf(protoOf({ dims: [1n], dataType }))).toBeUndefined();
  });

  it.each<[string, PartialMessage<TensorProto>]>([
    ["fewer bytes than its shape", { dims: [3n], rawData: new Uint8Array(8) }],
    ["more bytes than its shape", { dims: [], rawData: new Uint8Array(8) }],
    ["a number of bytes that is not a multiple of the element size", { dims: [1n], rawData: new Uint8Array(5) }],
    ["fewer numbers than its shape", { dims: [2n], floatData: [1] }],
    ["numbers in the field of another type", { dims: [1n], doubleData: [1] }],
    ["no data", { dims: [2n] }],
    ["a negative size", { dims: [-1n], rawData: new Uint8Array(4) }],
    ["negative sizes with a positive product", { dims: [-1n, -1n], rawData: new Uint8Array(4) }],
    ["sizes larger than any memory", { dims: [2n ** 40n, 2n ** 40n], rawData: new Uint8Array(4) }],
    ["a size above 2⁵³", { dims: [2n ** 60n, 0n], rawData: new Uint8Array() }],
    ["data in another file", { dims: [1n], dataLocation: 1, externalData: [{ key: "location", value: "weights" }] }],
  ])("refuses %s", (_, draft) => {
    expect(refusal(() => tensorOf(protoOf({ name: "t", dataType: dataTypes.float32, ...draft })))).toBe("onnx_invalid");
  });
});
