import * as ort from "onnxruntime-node";
import type { Pooling } from "#sdk/artifact/manifest.ts";
import { tableRows } from "#sdk/compile/accuracy/probe-inputs.ts";
import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { tokenBatches } from "#sdk/compile/evaluate/token-batches.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";

/** Computes the vectors, or the logits, of texts from their token ids. */
export type Encoder = (sequences: readonly TokenIds[]) => Promise<Float32Array[]>;

/**
 * Opens a model file in onnxruntime-node, with one thread and one text per call.
 *
 * @param graph the original model's graph; the file has the same inputs and the same first output
 */
export async function openEncoder(path: string, graph: Graph, pooling: Pooling = "mean"): Promise<Encoder> {
  const session = await ort.InferenceSession.create(path, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const name = graph.outputs[0]?.name ?? "";
  return async (sequences) => {
    const vectors: Float32Array[] = [];
    for (const ids of sequences) {
      const inputs = tokenBatches(graph, [ids]).flatMap((batch) => [...batch]);
      const outputs = await session.run(Object.fromEntries(inputs.map(([input, value]) => [input, toOrt(value)])));
      const { data, dims } = outputs[name] as ort.Tensor;
      vectors.push(sentenceVector(data as Float32Array, dims.at(-1) ?? 1, { pooling, normalize: false }));
    }
    return vectors;
  };
}

/** Returns the number of rows of a model's token embedding table; undefined if the table is not found. */
export function vocabularyOf(graph: Graph): number | undefined {
  const ids = graph.inputs.find(({ name }) => name === "input_ids");
  return ids && tableRows(ids);
}
