import type { Graph } from "#sdk/compile/graph/graph.ts";
import { toOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import { runModel, type Tensors } from "./run-model.ts";

/** Runs a graph on each of `feeds` with onnxruntime, with its optimizations off. */
export const runGraph = (graph: Graph, feeds: readonly Tensors[]): Promise<Tensors[]> =>
  runModel(encodeModel(toOnnx(graph)).finish(), feeds);
