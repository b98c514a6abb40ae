import { BertEdgeError } from "../../artifact/error.ts";
import type { DenseLayer, HeadFormula } from "./head-formula.ts";
import { readWeights } from "./model-folder.ts";
import { readDense } from "./modules/dense-config.ts";
import type { Module } from "./modules/module-list.ts";
import { readModules } from "./sentence-transformers.ts";

/** Projection of a late-interaction model, which maps hidden states to token vectors: https://arxiv.org/abs/2004.12832 */
export interface LateInteraction {
  readonly head: HeadFormula;
  /** Width of token vectors. */
  readonly outputs: number;
  /** Folders of the modules that have the weights; none if the weights are with the encoder's. */
  readonly modules: readonly string[];
}

/** Name of the projection in Stanford's ColBERT. */
const LINEAR = "linear";

/**
 * Reads how a model projects hidden states to token vectors: with Dense modules of sentence-transformers (PyLate writes them),
 * or with the layer `linear` of Stanford's ColBERT.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function lateInteraction(folder: string, hiddenSize: number): Promise<LateInteraction> {
  const { projections: modules } = await readModules(folder);
  const projections = modules.length > 0 ? await denseModules(folder, modules, hiddenSize) : [inlineProjection(folder)];
  return {
    head: { pooling: undefined, poolsLogits: false, transform: undefined, projections, output: undefined },
    outputs: (projections.at(-1) as DenseLayer).outputs,
    modules: modules.map(({ path }) => path),
  };
}

async function denseModules(folder: string, modules: readonly Module[], hiddenSize: number): Promise<DenseLayer[]> {
  const projections: DenseLayer[] = [];
  for (const module of modules) {
    const projection = await readDense(folder, module);
    const before = projections.at(-1)?.outputs ?? hiddenSize;
    if (projection.inputs !== before) {
      throw new BertEdgeError(
        "checkpoint_invalid",
        `${folder}: the Dense module ${module.path} reads ${projection.inputs} numbers, but gets ${before}.`,
        { hint: "Correct in_features and out_features, or download or save the model again." },
      );
    }
    projections.push(projection);
  }
  return projections;
}

function inlineProjection(folder: string): DenseLayer {
  const [outputs, inputs] = readWeights(folder).get(`${LINEAR}.weight`)?.shape ?? [];
  if (outputs === undefined || inputs === undefined) {
    throw new BertEdgeError("checkpoint_invalid", `${folder} has no tensor ${LINEAR}.weight.`, {
      hint: "Models of the class HF_ColBERT have this projection. Download or save the model again.",
    });
  }
  return { name: LINEAR, inputs, outputs, hasBias: false, activation: undefined, residual: undefined };
}
