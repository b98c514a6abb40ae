import { stat } from "node:fs/promises";
import { join } from "node:path";
import { headOf } from "../checkpoint/architectures.ts";
import { readEncoderConfig } from "../checkpoint/checkpoint.ts";
import { describeClassifier } from "../checkpoint/sequence-classification.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { PartialMessage } from "../proto/encode-model.ts";
import type { ModelProto } from "../proto/onnx-messages.ts";
import { graphOfClassifier, graphOfEncoder } from "./folder-graph.ts";

export interface ModelSource {
  graph: Graph;
  /** What surrounds the graph in its file. */
  envelope: PartialMessage<ModelProto>;
  /** The unchanged model as a file: its own, or one in this folder. */
  writeOriginal: (folder: string) => Promise<string>;
}

/**
 * Reads an ONNX file, or a Hugging Face model folder with config.json and model.safetensors or model.onnx.
 *
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, `graph_invalid`, `external_data_invalid`, `checkpoint_missing`,
 *   `checkpoint_invalid` or `checkpoint_unsupported`; when weights are used, `file_changed`
 */
export async function readModelSource(source: string): Promise<ModelSource> {
  const isFolder = await stat(source).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const model = await readOnnx(source);
    return { graph: fromOnnx(model), envelope: model, writeOriginal: async () => source };
  }
  const graph = await graphOfFolder(source);
  const original = copyGraph(graph);
  const writeOriginal = async (folder: string) => {
    const path = join(folder, "original");
    await writeOnnx(path, original);
    return path;
  };
  return { graph, envelope: { producerName: "bert-edge" }, writeOriginal };
}

async function graphOfFolder(folder: string): Promise<Graph> {
  if ((await headOf(folder)) === "sequence-classification") return graphOfClassifier(await describeClassifier(folder));
  return graphOfEncoder({ folder, config: await readEncoderConfig(folder) });
}
