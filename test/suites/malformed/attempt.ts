import { BertEdgeError } from "../../../sdk/src/artifact/error.ts";
import { decodeModel } from "../../../sdk/src/build/onnx/decode-model.ts";
import { encodeModel } from "../../../sdk/src/build/onnx/encode-model.ts";
import { fromOnnx } from "../../../sdk/src/build/onnx/from-onnx.ts";
import { readOnnx } from "../../../sdk/src/build/onnx/read-onnx.ts";
import { toOnnx } from "../../../sdk/src/build/onnx/to-onnx.ts";
import { optimizeGraph } from "../../../sdk/src/build/optimize/optimize-graph.ts";

/**
 * Takes a file all the way through the optimizer.
 *
 * @returns "accepted", the code of the BertEdgeError that refused it, or "fault: " and what else was thrown
 */
export async function attempt(path: string): Promise<string> {
  try {
    const model = await readOnnx(path);
    const graph = fromOnnx(model);
    await optimizeGraph(graph);
    decodeModel(encodeModel(toOnnx(graph, model)).finish());
    return "accepted";
  } catch (error) {
    if (error instanceof BertEdgeError) return error.code;
    return `fault: ${error instanceof Error ? error.stack : error}`;
  }
}
