import { join } from "node:path";
import type { Graph } from "../graph/graph.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";

/** Files of graphs, by folder. Graphs do not change between stages, so each graph is written once. */
const written = new WeakMap<Graph, Map<string, Promise<string>>>();

/**
 * Writes a float32 graph as an ONNX file and returns the path. The weights are in a second file, which onnxruntime maps
 * into memory instead of copying it.
 */
export function graphFile(graph: Graph, folder: string): Promise<string> {
  const files = written.get(graph) ?? new Map<string, Promise<string>>();
  written.set(graph, files);
  const file = files.get(folder) ?? write(graph, join(folder, `${crypto.randomUUID()}.onnx`));
  files.set(folder, file);
  return file;
}

async function write(graph: Graph, path: string): Promise<string> {
  await writeOnnx(path, graph, {}, { maxInlineBytes: 0 });
  return path;
}
