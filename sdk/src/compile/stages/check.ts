import type { Parity } from "../../artifact/manifest.ts";
import { assertWithin, FP32_LIMIT } from "../accuracy/limits.ts";
import { type ModelComparison, modelParityInSubprocess } from "../accuracy/model-parity.ts";
import { probesOf } from "../accuracy/probes.ts";
import { assertFiniteWeights, assertLongest, differ } from "../accuracy/sound-model.ts";
import type { TaskData } from "../accuracy/task-data.ts";
import { exactGraph } from "../evaluate/exact-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { ModelSource } from "../model/model-source.ts";
import { inputsOf } from "../model/run-task.ts";
import type { TextModel } from "../model/text-model.ts";
import { graphFile, withSession } from "./engine-file.ts";
import type { Stage } from "./stage.ts";

interface CheckFusionInput {
  readonly model: TextModel;
  /** The fused graph of the model. */
  readonly graph: Graph;
  readonly data: TaskData | undefined;
}

export interface CheckedFusion {
  /** Vectors or logits of the texts of `probesOf`, computed by the unfused graph. */
  readonly reference: Float32Array[];
  readonly parity: Parity;
  /** Score of the fused float32 graph on the user's data; undefined if it was not computed. */
  readonly score: number | undefined;
}

/**
 * Compares the fused and the unfused graph on the probe texts.
 *
 * @throws BertEdgeError `accuracy_gate` when the results differ; `checkpoint_invalid` when the model cannot run on a
 *   text of its maximum length
 */
export const checkFusion: Stage<CheckFusionInput, CheckedFusion> = {
  name: "check",
  describe: () => "check the fused graph",
  async run({ model, graph, data }, { folder, signal, progress }) {
    const during = (message: string) => ({ signal, progress: (fraction: number) => progress(message, fraction) });
    const probes = probesOf(model);
    const fused = { path: await graphFile(graph, folder), engine: "ort-node" } as const;
    const results = await withSession(fused, during("check the fused graph"), async (session) => {
      // The check is only for models with a position table, which can have too few rows. Models with rotary embeddings
      // have no such table.
      if (!model.config.rotaryTheta) await assertLongest(model, session);
      return model.compute(session, inputsOf(model.task, probes.texts));
    });
    const unfused = await graphFile(await exactGraph(model.graph), folder);
    const original = { path: unfused, engine: "ort-node", optimize: false } as const;
    const reference = await withSession(original, during("compare with the unfused graph"), (session) =>
      model.compute(session, inputsOf(model.task, probes.texts)),
    );
    const found = probes.compare(reference, results);
    // Outputs that are all the same or not finite cannot be compared. The observe stage refuses such a model and names
    // the layer.
    if (!differ(reference)) return { reference, parity: found, score: undefined };
    assertWithin("The fused graph", { parity: found }, FP32_LIMIT);
    const score = await data?.score((texts) =>
      withSession(fused, during("score the fused graph"), (session) => model.compute(session, texts)),
    );
    return { reference, parity: found, score };
  },
  report: ({ parity: { meanCosine, minCosine, maxAbsDiff }, score }) => ({ meanCosine, minCosine, maxAbsDiff, score }),
};

interface CheckWeightsInput {
  readonly graph: Graph;
  /** Path of the model, for the error message. */
  readonly path: string;
}

/** @throws BertEdgeError `weights_invalid` if a weight is NaN or infinite */
export const checkWeights: Stage<CheckWeightsInput, { readonly weights: number }> = {
  name: "check",
  describe: () => "check the weights",
  async run({ graph, path }) {
    assertFiniteWeights(graph, path);
    return { weights: [...graph.constants()].length };
  },
  report: (found) => found,
};

interface CompareFilesInput {
  readonly source: ModelSource;
  /** Path of the rewritten model. */
  readonly rewritten: string;
}

/**
 * Runs a rewritten ONNX file and its original on the same batches, in a subprocess.
 *
 * @throws BertEdgeError `parity_failed`, `parity_impossible`
 */
export const compareFiles: Stage<CompareFilesInput, ModelComparison> = {
  name: "check",
  describe: () => "compare with the original",
  run: async ({ source, rewritten }, { folder, signal, progress }) =>
    modelParityInSubprocess(await source.writeOriginal(folder), rewritten, {
      signal,
      onProgress: (fraction) => progress("compare with the original", fraction),
    }),
  report: ({ maxAbs, cosine, cases }) => ({ maxAbs, cosine, cases }),
};
