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
 * Reads an ONNX file, or a Hugging Face model folder with config.json and model.safetensors or model.onnx.
 *
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, `graph_invalid`, `external_data_invalid`, `checkpoint_missing`,
 *   `checkpoint_invalid` or `checkpoint_unsupported`; `file_changed` when weights are used after the file has changed
 */
export async function readModelSource(source: string): Promise<ModelSource> {
  const isFolder = await stat(source).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    const model = await readOnnx(source);
    return { path: source, graph: fromOnnx(model), envelope: model, writeOriginal: async () => source };
  }
  const { graph } = await (await describeModel(source)).readGraph();
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
