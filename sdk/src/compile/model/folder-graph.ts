import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { exportFiles, type FirstExport, readFirst } from "../checkpoint/export-files.ts";
import { type ExportedResult, HIDDEN_STATES } from "../checkpoint/export-outputs.ts";
import { type ExportedModel, exportedGraph } from "../checkpoint/exported-graph.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import type { HeadedModel } from "../checkpoint/headed-model.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import { WatchedTensors } from "../checkpoint/read-tensors.ts";
import type { Encoder } from "../checkpoint/take-weights.ts";
import type { Graph } from "../graph/graph.ts";
import type { Tensor } from "../graph/tensor.ts";

/** The graph of a folder's model. */
export interface FolderGraph {
  readonly graph: Graph;
  /** The ONNX file that the graph was read from; undefined if it was built from weights. */
  readonly file: ExportedModel | undefined;
  /** The choice among the folder's ONNX files; undefined if the file was named, or if the graph was built from weights. */
  readonly choice: Omit<FirstExport<ExportedModel>, "read"> | undefined;
  /** Names of the weights' tensors that the graph has no use for; empty if an ONNX file was read. */
  readonly unused: readonly string[];
}

/** @throws the errors of `readWeights`, `encoderWeights` and `exportedGraph` */
export const graphOfEncoder = (encoder: Omit<Encoder, "weights">, onnx?: string): Promise<FolderGraph> =>
  graphOf(encoder.folder, onnx, {
    read: (path) =>
      exportedGraph(path, encoder.config, [
        { names: HIDDEN_STATES, shape: [undefined, undefined, encoder.config.hiddenSize] },
      ]),
    weights: () => readWeights(encoder.folder),
    write: (weights) => encoderGraph(encoder.config, encoderWeights({ ...encoder, weights })),
  });

/** @throws the errors of `readWeights`, `headGraph` and `exportedGraph` */
export async function graphOfHeadedModel(model: Omit<HeadedModel, "weights">, onnx?: string): Promise<FolderGraph> {
  const found = await graphOf(model.folder, onnx, {
    read: (path) => exportedGraph(path, model.config, resultsOf(model)),
    weights: () => readWeights(model.folder, model.modules),
    write: (weights) => headGraph({ ...model, weights }),
  });
  // A checkpoint with tied layers can have the output bias under two names. The name that is not read does not count as unused.
  return { ...found, unused: found.unused.filter((name) => name !== model.head.output?.bias) };
}

/** Returns the outputs that an export of this head has. */
function resultsOf({ head, outputs, kind }: Omit<HeadedModel, "weights">): ExportedResult[] {
  if (kind === "question-answering") {
    return ["start_logits", "end_logits"].map((name) => ({ names: [name], shape: [undefined, undefined] }));
  }
  return [{ names: ["logits"], shape: head.pooling ? [undefined, outputs] : [undefined, undefined, outputs] }];
}

interface Sources {
  readonly read: (path: string) => Promise<ExportedModel>;
  readonly weights: () => Map<string, Tensor>;
  readonly write: (weights: ReadonlyMap<string, Tensor>) => Graph;
}

/**
 * Builds the graph from the folder's weights. If the folder has only ONNX exports, reads one.
 *
 * @param onnx ONNX file to read instead
 */
async function graphOf(folder: string, onnx: string | undefined, from: Sources): Promise<FolderGraph> {
  if (onnx !== undefined) {
    const file = await from.read(onnx);
    return { graph: file.graph, file, choice: undefined, unused: [] };
  }
  const files = await exportFiles(folder);
  if (files.length === 0) {
    const weights = new WatchedTensors(from.weights());
    return { graph: from.write(weights), file: undefined, choice: undefined, unused: weights.unread };
  }
  const { read: file, ...choice } = await readFirst(folder, files, from.read);
  return { graph: file.graph, file, choice, unused: [] };
}
