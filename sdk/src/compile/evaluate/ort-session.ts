import { Tensor as OrtTensor } from "onnxruntime-common";
import type * as ort from "onnxruntime-node";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { overflowsInt8 } from "../../runtime/engine/ort-node/overflows-int8.ts";
import { release } from "../files/stored-file.ts";
import type { Graph } from "../graph/graph.ts";
import { type DataType, type Tensor, tensor, typedArrays } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { decodeModel } from "../proto/decode-model.ts";
import { exactGraph } from "./exact-graph.ts";

type SessionOptions = ort.InferenceSession.SessionOptions;

/** Creates an onnxruntime session for a graph. The session has its own copy of the weights; the encoded file is freed. */
export async function ortSession(graph: Graph, options: SessionOptions): Promise<ort.InferenceSession> {
  const { InferenceSession } = await onnxruntimeNode();
  const file = encodeOnnx(await exactGraph(graph));
  try {
    return await InferenceSession.create(file, options);
  } finally {
    release(file);
  }
}

/**
 * Creates an onnxruntime session for an ONNX file. The session computes int8 exactly on this CPU.
 *
 * @param file path or bytes of the ONNX file
 */
export async function ortFileSession(
  file: string | Uint8Array<ArrayBuffer>,
  options: SessionOptions,
): Promise<ort.InferenceSession> {
  const { InferenceSession } = await onnxruntimeNode();
  if (await overflowsInt8()) {
    const graph = fromOnnx(typeof file === "string" ? await readOnnx(file) : decodeModel(file));
    const exact = await exactGraph(graph);
    if (exact !== graph) return ortSession(exact, options);
  }
  return typeof file === "string" ? InferenceSession.create(file, options) : InferenceSession.create(file, options);
}

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
