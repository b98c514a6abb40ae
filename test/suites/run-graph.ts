import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { encodeModel } from "../../sdk/src/build/onnx/encode-model.ts";
import { toOnnx } from "../../sdk/src/build/onnx/to-onnx.ts";
import { runModel, type Tensors } from "./run-model.ts";

/** What a graph computes from each of `feeds` in turn, by onnxruntime with its own optimization off. */
export const runGraph = (graph: Graph, feeds: readonly Tensors[]): Promise<Tensors[]> =>
  runModel(encodeModel(toOnnx(graph)).finish(), feeds);
