import * as ort from "onnxruntime-node";
import { release } from "../files/large-buffers.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";

/** A session that runs a graph. It has the weights from then on; the file that it was made from is gone. */
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
