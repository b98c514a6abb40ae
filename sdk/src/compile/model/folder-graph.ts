import type { Encoder } from "../checkpoint/checkpoint.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { exportFiles, type FirstExport, readFirst } from "../checkpoint/export-files.ts";
import { HIDDEN_STATES } from "../checkpoint/export-outputs.ts";
import { type ExportedModel, type ExportedResult, exportedGraph } from "../checkpoint/exported-graph.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import type { HeadedModel } from "../checkpoint/headed-model.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import type { Graph } from "../graph/graph.ts";

/** The graph of a folder's model. */
export interface FolderGraph {
  readonly graph: Graph;
  /** The ONNX file that the graph was read from; undefined if it was built from weights. */
  readonly file: ExportedModel | undefined;
  /** The choice of this file among those of the folder; undefined if the file was named. */
  readonly choice: Omit<FirstExport<ExportedModel>, "read"> | undefined;
}

/** @throws the errors of `readWeights`, `encoderWeights` and `exportedGraph` */
export const graphOfEncoder = (encoder: Omit<Encoder, "weights">, onnx?: string): Promise<FolderGraph> =>
  graphOf(
    encoder.folder,
    onnx,
    (path) =>
      exportedGraph(path, encoder.config, [
        { names: HIDDEN_STATES, shape: [undefined, undefined, encoder.config.hiddenSize] },
      ]),
    () => encoderGraph(encoder.config, encoderWeights({ ...encoder, weights: readWeights(encoder.folder) })),
  );

/** @throws the errors of `readWeights`, `headGraph` and `exportedGraph` */
export const graphOfHeadedModel = (model: Omit<HeadedModel, "weights">, onnx?: string): Promise<FolderGraph> =>
  graphOf(
    model.folder,
    onnx,
    (path) => exportedGraph(path, model.config, resultsOf(model)),
    () => headGraph({ ...model, weights: readWeights(model.folder, model.module) }),
  );

/** Returns the outputs that an export of this head has. */
function resultsOf({ head, outputs, kind }: Omit<HeadedModel, "weights">): ExportedResult[] {
  if (kind === "question-answering") {
    return ["start_logits", "end_logits"].map((name) => ({ names: [name], shape: [undefined, undefined] }));
  }
  return [{ names: ["logits"], shape: head.pooling ? [undefined, outputs] : [undefined, undefined, outputs] }];
}

/**
 * Builds the graph from the folder's safetensors. If the folder has only ONNX exports, reads one.
 *
 * @param onnx ONNX file to read instead
 */
async function graphOf(
  folder: string,
  onnx: string | undefined,
  read: (path: string) => Promise<ExportedModel>,
  write: () => Graph,
): Promise<FolderGraph> {
  if (onnx !== undefined) {
    const file = await read(onnx);
    return { graph: file.graph, file, choice: undefined };
  }
  const files = await exportFiles(folder);
  if (files.length === 0) return { graph: write(), file: undefined, choice: undefined };
  const { read: file, ...choice } = await readFirst(folder, files, read);
  return { graph: file.graph, file, choice };
}
