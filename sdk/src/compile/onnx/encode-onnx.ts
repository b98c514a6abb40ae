import type { Graph } from "../graph/graph.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { toOnnx } from "./to-onnx.ts";

/** A graph as an ONNX file. */
export const encodeOnnx = (graph: Graph): Uint8Array<ArrayBuffer> =>
  encodeModel(toOnnx(graph, { producerName: "bert-edge" })).finish();
