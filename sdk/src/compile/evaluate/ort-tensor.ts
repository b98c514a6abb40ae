import * as ort from "onnxruntime-node";
import { type DataType, type Tensor, tensor, typedArrays } from "../graph/tensor.ts";

/** Copies a tensor into an onnxruntime tensor. */
export function toOrt({ dtype, shape, data }: Tensor): ort.Tensor {
  const array = typedArrays[dtype as keyof typeof typedArrays];
  const elements = new array(new Uint8Array(data).buffer);
  const value = new ort.Tensor(dtype as "float32", elements as Float32Array, shape);
  // onnxruntime-node accepts float16 only as Uint16Array, but the constructor of ort.Tensor would convert it to
  // Float16Array.
  return dtype === "float16" ? Object.assign(value, { cpuData: new Uint16Array(elements.buffer) }) : value;
}

/** Converts an onnxruntime tensor without copying it. */
export function fromOrt({ type, dims, data }: ort.Tensor): Tensor {
  return tensor(type as DataType, dims, data as Float32Array);
}
