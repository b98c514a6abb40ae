import { Tensor as OrtTensor } from "onnxruntime-common";
import { type DataType, type Tensor, tensor, typedArrays } from "../graph/tensor.ts";

/** Copies a tensor into an onnxruntime tensor. */
export function toOrt({ dtype, shape, data }: Tensor): OrtTensor {
  const array = typedArrays[dtype as keyof typeof typedArrays];
  const elements = new array(new Uint8Array(data).buffer);
  const value = new OrtTensor(dtype as "float32", elements as Float32Array, shape);
  // onnxruntime-node accepts float16 only as Uint16Array, but the constructor would convert it to
  // Float16Array.
  return dtype === "float16" ? Object.assign(value, { cpuData: new Uint16Array(elements.buffer) }) : value;
}

/** Converts an onnxruntime tensor without copying it. */
export function fromOrt({ type, dims, data }: OrtTensor): Tensor {
  return tensor(type as DataType, dims, data as Float32Array);
}
