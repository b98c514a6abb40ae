import type { Encoder } from "../checkpoint/checkpoint.ts";
import { classifierGraph } from "../checkpoint/classifier-graph.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { type ExportedResult, exportedGraph, exportOf } from "../checkpoint/exported-graph.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import type { Classifier } from "../checkpoint/sequence-classification.ts";
import type { Graph } from "../graph/graph.ts";

/** @throws the errors of `readWeights`, `encoderWeights` and `exportedGraph` */
export const graphOfEncoder = (encoder: Omit<Encoder, "weights">, onnx?: string): Promise<Graph> =>
  graphOf(
    encoder,
    onnx,
    { names: ["last_hidden_state", "token_embeddings"], shape: [undefined, undefined, encoder.config.hiddenSize] },
    (weights) => encoderGraph(encoder.config, encoderWeights({ ...encoder, weights })),
  );

/** @throws the errors of `readWeights`, `classifierGraph` and `exportedGraph` */
export const graphOfClassifier = (classifier: Omit<Classifier, "weights">, onnx?: string): Promise<Graph> =>
  graphOf(classifier, onnx, { names: ["logits"], shape: [undefined, classifier.labels.length] }, (weights) =>
    classifierGraph({ ...classifier, weights }),
  );

/**
 * Builds the graph from the folder's safetensors. If the folder has only an ONNX export, reads the export.
 *
 * @param onnx ONNX file to read instead
 */
async function graphOf(
  { folder, config }: Omit<Encoder, "weights">,
  onnx: string | undefined,
  result: ExportedResult,
  write: (weights: Encoder["weights"]) => Graph,
): Promise<Graph> {
  const exported = onnx ?? (await exportOf(folder));
  return exported ? exportedGraph(exported, config, result) : write(readWeights(folder));
}
