import type * as ort from "onnxruntime-node";
import { onnxruntimeNode } from "../../runtime/engine/ort-node/onnxruntime-node.ts";
import { release } from "../files/large-buffers.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";

/** Creates an onnxruntime session for a graph. The session has its own copy of the weights; the encoded file is freed. */
export async function ortSession(
  graph: Graph,
  options: ort.InferenceSession.SessionOptions,
): Promise<ort.InferenceSession> {
  const { InferenceSession } = await onnxruntimeNode();
  const file = encodeOnnx(graph);
  try {
    return await InferenceSession.create(file, options);
  } finally {
    release(file);
  }
}
