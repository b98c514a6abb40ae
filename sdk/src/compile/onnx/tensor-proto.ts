import { BertEdgeError } from "../../artifact/error.ts";
import { byteLength, type DataType, isLazy, lazyTensor, type Tensor } from "../graph/tensor.ts";
import type { PartialMessage } from "../proto/encode-model.ts";
import type { TensorProto } from "../proto/onnx-messages.ts";

/** Numbers of TensorProto.DataType in onnx.proto3. */
export const dataTypes: Readonly<Record<DataType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
  bfloat16: 16,
};

const byNumber = new Map(Object.entries(dataTypes).map(([name, number]) => [number, name as DataType]));

/**
 * Returns the element type for a number of TensorProto.DataType. Returns undefined for types that are not supported,
 * such as strings, complex numbers and 4-bit integers.
 */
export const dataTypeOf = (number: number | undefined): DataType | undefined => byNumber.get(number ?? 0);

/**
 * Converts a tensor of a file. Does not copy raw data. Returns undefined for types that `dataTypeOf` does not know.
 *
 * @throws BertEdgeError `onnx_invalid` if the number of bytes does not fit the shape
 */
export function tensorOf(proto: TensorProto): Tensor | undefined {
  const dtype = dataTypeOf(proto.dataType);
  if (!dtype) return undefined;
  const shape = proto.dims.map(Number);
  const data = proto.rawData ?? typedData(proto, dtype);
  if (shape.every((size) => Number.isSafeInteger(size) && size >= 0) && data.length === byteLength({ dtype, shape })) {
    return data instanceof Uint8Array ? { dtype, shape, data } : lazyTensor(dtype, shape, () => data.read());
  }
  throw new BertEdgeError(
    "onnx_invalid",
    `Tensor ${proto.name || "(without a name)"} is ${dtype}[${shape}], but the file has ${data.length} bytes for it.`,
    { hint: "The file is damaged; export the model again." },
  );
}

/** Returns the bytes of a tensor that the file stores as a list of numbers. */
function typedData(proto: TensorProto, dtype: DataType): Uint8Array<ArrayBuffer> {
  const bytes = (values: { buffer: ArrayBufferLike }) => new Uint8Array(values.buffer as ArrayBuffer);
  switch (dtype) {
    case "float32":
      return bytes(Float32Array.from(proto.floatData));
    case "float64":
      return bytes(Float64Array.from(proto.doubleData));
    case "int64":
      return bytes(BigInt64Array.from(proto.int64Data));
    case "uint64":
      return bytes(BigUint64Array.from(proto.uint64Data));
    case "uint32":
      return bytes(Uint32Array.from(proto.uint64Data, Number));
    case "int32":
      return bytes(Int32Array.from(proto.int32Data));
    case "int16":
    case "uint16":
    case "float16":
    case "bfloat16":
      return bytes(Uint16Array.from(proto.int32Data));
    case "int8":
    case "uint8":
    case "bool":
      return bytes(Uint8Array.from(proto.int32Data));
  }
}

export const toTensorProto = (name: string, value: Tensor): PartialMessage<TensorProto> => ({
  dims: value.shape.map(BigInt),
  dataType: dataTypes[value.dtype],
  name,
  rawData: isLazy(value) ? { length: byteLength(value), read: () => value.data } : value.data,
});
