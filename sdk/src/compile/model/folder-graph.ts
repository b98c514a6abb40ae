import type { Encoder } from "../checkpoint/checkpoint.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { type ExportedResult, exportedGraph, exportOf } from "../checkpoint/exported-graph.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import type { HeadedModel } from "../checkpoint/headed-model.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import { WatchedTensors } from "../checkpoint/watched-tensors.ts";
import type { Graph } from "../graph/graph.ts";
import type { Tensor } from "../graph/tensor.ts";

/** The graph of a folder's model. */
export interface FolderGraph {
  readonly graph: Graph;
  /** Names of the weights' tensors that the graph has no use for; empty if an ONNX export was read. */
  readonly unused: readonly string[];
}

/** @throws the errors of `readWeights`, `encoderWeights` and `exportedGraph` */
export const graphOfEncoder = (encoder: Omit<Encoder, "weights">, onnx?: string): Promise<FolderGraph> =>
  graphOf(
    encoder.folder,
    onnx,
    (path) =>
      exportedGraph(path, encoder.config, [
        { names: ["last_hidden_state", "token_embeddings"], shape: [undefined, undefined, encoder.config.hiddenSize] },
      ]),
    () => readWeights(encoder.folder),
    (weights) => encoderGraph(encoder.config, encoderWeights({ ...encoder, weights })),
  );

/** @throws the errors of `readWeights`, `headGraph` and `exportedGraph` */
export async function graphOfHeadedModel(model: Omit<HeadedModel, "weights">, onnx?: string): Promise<FolderGraph> {
  const { graph, unused } = await graphOf(
    model.folder,
    onnx,
    (path) => exportedGraph(path, model.config, resultsOf(model)),
    () => readWeights(model.folder, model.modules),
    (weights) => headGraph({ ...model, weights }),
  );
  // Checkpoints of tied layers may have the bias under two names, of which one is read.
  return { graph, unused: unused.filter((name) => name !== model.head.output?.bias) };
}

/** Returns the outputs that an export of this head has. */
function resultsOf({ head, outputs, kind }: Omit<HeadedModel, "weights">): ExportedResult[] {
  if (kind === "question-answering") {
    return ["start_logits", "end_logits"].map((name) => ({ names: [name], shape: [undefined, undefined] }));
  }
  return [{ names: ["logits"], shape: head.pooling ? [undefined, outputs] : [undefined, undefined, outputs] }];
}

/**
 * Builds the graph from the folder's weights. If the folder has only an ONNX export, reads the export.
 *
 * @param onnx ONNX file to read instead
 */
async function graphOf(
  folder: string,
  onnx: string | undefined,
  readExport: (path: string) => Promise<Graph>,
  weights: () => Map<string, Tensor>,
  write: (weights: ReadonlyMap<string, Tensor>) => Graph,
): Promise<FolderGraph> {
  const exported = onnx ?? (await exportOf(folder));
  if (exported) return { graph: await readExport(exported), unused: [] };
  const watched = new WatchedTensors(weights());
  return { graph: write(watched), unused: watched.unread };
}
