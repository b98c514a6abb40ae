import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Graph } from "../graph/graph.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { PartialMessage } from "../proto/encode-model.ts";
import type { ModelProto } from "../proto/onnx-messages.ts";
import { describeModel } from "./describe-model.ts";

/** A model without tokenizer and task: only its graph was read. */
export interface ModelSource {
  readonly path: string;
  readonly graph: Graph;
  /** The fields of the ONNX file outside of the graph, such as the producer's name. */
  readonly envelope: PartialMessage<ModelProto>;
  /**
   * Returns the path of an ONNX file with the model. A model from a Hugging Face folder is written to `folder` at the
   * first call.
   */
  readonly writeOriginal: (folder: string) => Promise<string>;
}

/**
 * Reads an ONNX file, or a Hugging Face model folder with config.json and model.safetensors, pytorch_model.bin or model.onnx. An
 * ONNX file of a folder is read as it is, with all its outputs.
 *
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, `graph_invalid`, `external_data_invalid`, `checkpoint_missing`,
 *   `checkpoint_invalid` or `checkpoint_unsupported`; `file_changed` when weights are used after the file has changed
 */
export async function readModelSource(source: string): Promise<ModelSource> {
  const isFolder = await stat(source).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return readFile(source);
  const { graph, file } = await (await describeModel(source)).readGraph();
  // The graph has only the outputs that a task needs.
  if (file) return readFile(file.path);
  let original: string | undefined;
  async function writeOriginal(folder: string): Promise<string> {
    if (original === undefined) {
      original = join(folder, "original.onnx");
      await writeOnnx(original, graph);
    }
    return original;
  }
  return { path: source, graph, envelope: { producerName: "bert-edge" }, writeOriginal };
}

async function readFile(path: string): Promise<ModelSource> {
  const model = await readOnnx(path);
  return { path, graph: fromOnnx(model), envelope: model, writeOriginal: async () => path };
}
