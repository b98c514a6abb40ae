import type { Encoder } from "../checkpoint/checkpoint.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { type ExportedResult, exportedGraph, exportOf } from "../checkpoint/exported-graph.ts";
import { headGraph } from "../checkpoint/head-graph.ts";
import type { HeadedModel } from "../checkpoint/headed-model.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import type { Graph } from "../graph/graph.ts";

/** @throws the errors of `readWeights`, `encoderWeights` and `exportedGraph` */
export const graphOfEncoder = (encoder: Omit<Encoder, "weights">, onnx?: string): Promise<Graph> =>
  graphOf(
    encoder.folder,
    onnx,
    (path) =>
      exportedGraph(path, encoder.config, [
        { names: ["last_hidden_state", "token_embeddings"], shape: [undefined, undefined, encoder.config.hiddenSize] },
      ]),
    () => encoderGraph(encoder.config, encoderWeights({ ...encoder, weights: readWeights(encoder.folder) })),
  );

/** @throws the errors of `readWeights`, `headGraph` and `exportedGraph` */
export const graphOfHeadedModel = (model: Omit<HeadedModel, "weights">, onnx?: string): Promise<Graph> =>
  graphOf(
    model.folder,
    onnx,
    (path) => exportedGraph(path, model.config, resultsOf(model)),
    () => headGraph({ ...model, weights: readWeights(model.folder, model.modules) }),
  );

/** Returns the outputs that an export of this head has. */
function resultsOf({ head, outputs, kind }: Omit<HeadedModel, "weights">): ExportedResult[] {
  if (kind === "question-answering") {
    return ["start_logits", "end_logits"].map((name) => ({ names: [name], shape: [undefined, undefined] }));
  }
  return [{ names: ["logits"], shape: head.pooling ? [undefined, outputs] : [undefined, undefined, outputs] }];
}

/**
 * Builds the graph from the folder's safetensors. If the folder has only an ONNX export, reads the export.
 *
 * @param onnx ONNX file to read instead
 */
async function graphOf(
  folder: string,
  onnx: string | undefined,
  read: (path: string) => Promise<Graph>,
  write: () => Graph,
): Promise<Graph> {
  const exported = onnx ?? (await exportOf(folder));
  return exported ? read(exported) : write();
}
