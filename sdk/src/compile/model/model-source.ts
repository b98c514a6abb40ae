import { stat } from "node:fs/promises";
import { join } from "node:path";
import { assertKeys } from "../checkpoint/modules/accepted-keys.ts";
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
  /** Names of unknown keys of a folder's modules that were accepted. */
  readonly acceptedKeys: readonly string[];
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
 * @param acceptKeys unknown keys of a folder's modules that are not refused
 * @throws BertEdgeError `onnx_missing`, `onnx_invalid`, `graph_invalid`, `external_data_invalid`, `checkpoint_missing`,
 *   `checkpoint_invalid`, `checkpoint_unsupported` or `accepted_key_invalid`; `file_changed` when weights are used after the file has changed
 */
export async function readModelSource(source: string, acceptKeys: readonly string[] = []): Promise<ModelSource> {
  const isFolder = await stat(source).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) {
    assertKeys(source, [], acceptKeys);
    return readFile(source);
  }
  const { acceptedKeys, readGraph } = await describeModel(source, { acceptKeys });
  const { graph, file } = await readGraph();
  // Reads the file again, because `graph` has only the outputs that a task needs.
  if (file) return { ...(await readFile(file.path)), acceptedKeys };
  let original: string | undefined;
  async function writeOriginal(folder: string): Promise<string> {
    if (original === undefined) {
      original = join(folder, "original.onnx");
      await writeOnnx(original, graph);
    }
    return original;
  }
  return { path: source, graph, acceptedKeys, envelope: { producerName: "bert-edge" }, writeOriginal };
}

async function readFile(path: string): Promise<ModelSource> {
  const model = await readOnnx(path);
  return { path, graph: fromOnnx(model), acceptedKeys: [], envelope: model, writeOriginal: async () => path };
}
