import * as ort from "onnxruntime-node";
import { type DataType, type Tensor, tensor } from "../graph/tensor.ts";

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Float16Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint64: BigUint64Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
  bool: Uint8Array,
};

export function toOrt({ dtype, shape, data }: Tensor): ort.Tensor {
  const array = arrays[dtype as keyof typeof arrays];
  const elements = new array(new Uint8Array(data).buffer);
  const value = new ort.Tensor(dtype as "float32", elements as Float32Array, shape);
  // The native library takes halves as Uint16Array alone, and ort.Tensor makes Float16Array of that.
  return dtype === "float16" ? Object.assign(value, { cpuData: new Uint16Array(elements.buffer) }) : value;
}

export function fromOrt({ type, dims, data }: ort.Tensor): Tensor {
  return tensor(type as DataType, dims, data as Float32Array);
}
