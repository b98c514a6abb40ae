import * as ort from "onnxruntime-node";
import { release } from "../files/large-buffers.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";

/** Creates an onnxruntime session for a graph. The session has its own copy of the weights; the encoded file is freed. */
export async function ortSession(
  graph: Graph,
  options: ort.InferenceSession.SessionOptions,
): Promise<ort.InferenceSession> {
  const file = encodeOnnx(graph);
  try {
    return await ort.InferenceSession.create(file, options);
  } finally {
    release(file);
  }
}
