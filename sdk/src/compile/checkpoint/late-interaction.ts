import { join, relative } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readJson } from "../files/json-file.ts";
import { Count } from "./config-keys.ts";
import type { DenseLayer, HeadFormula } from "./head-formula.ts";
import { readWeights } from "./model-folder.ts";
import type { Module } from "./modules/module-list.ts";
import { readModules } from "./sentence-transformers.ts";

/** Projection of a late-interaction model, which maps hidden states to token vectors: https://arxiv.org/abs/2004.12832 */
interface LateInteraction {
  readonly head: HeadFormula;
  /** Width of token vectors. */
  readonly outputs: number;
  /** Paths, relative to `folder`, of the modules whose files have the weights; empty if the encoder's file has them. */
  readonly modules: readonly string[];
}

/** Name of the projection in Stanford's ColBERT. */
export const LINEAR = "linear";

/**
 * Reads how a model projects hidden states to token vectors: with Dense modules of sentence-transformers (PyLate writes them),
 * or with the layer `linear` of Stanford's ColBERT.
 *
 * @param root folder with modules.json
 * @param folder folder with the encoder
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function lateInteraction(root: string, folder: string, hiddenSize: number): Promise<LateInteraction> {
  const found = await readModules(root);
  const modules = found.projections.map((module) => ({ ...module, path: relative(folder, join(root, module.path)) }));
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
        {
          hint: "Correct in_features and out_features in config.json of the Dense modules, or download or save the model again.",
        },
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

const DenseConfig = v.looseObject({
  in_features: Count,
  out_features: Count,
  /** null counts as false, as in Python. */
  bias: v.optional(v.nullable(v.boolean()), true),
  activation_function: v.optional(v.string()),
  use_residual: v.nullish(v.boolean(), false),
});

/** Activations by the last part of their class's name in torch. Their arguments have the default values. */
const activations: Readonly<Record<string, DenseLayer["activation"]>> = {
  Identity: undefined,
  Tanh: "tanh",
  GELU: "gelu",
  ReLU: "relu",
  SiLU: "silu",
};

/** Name of the linear layer in a Dense module's file. */
const DENSE_LINEAR = "linear";

/**
 * Reads a Dense module, which projects the vectors of tokens.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
async function readDense(folder: string, module: Module): Promise<DenseLayer> {
  const file = join(folder, module.path, "config.json");
  const config = await readJson(folder, join(module.path, "config.json"), DenseConfig);
  if (!config) {
    throw new BertEdgeError("checkpoint_missing", `${file} does not exist.`, {
      hint: "Copy the whole model folder, with its subfolders such as 1_Dense.",
    });
  }
  const { in_features: inputs, out_features: outputs, bias, use_residual: hasResidual } = config;
  const name = `${module.path}/${DENSE_LINEAR}`;
  return {
    ...{ name, inputs, outputs, hasBias: bias ?? false },
    activation: activationOf(file, config.activation_function),
    residual: !hasResidual ? undefined : inputs === outputs ? "x" : { name: `${module.path}/residual` },
  };
}

/** @param name name of a class, such as `torch.nn.modules.activation.Tanh` */
function activationOf(file: string, name: string | undefined): DenseLayer["activation"] {
  const [, found = ""] = /^torch\.nn\.(?:[a-z]+\.)*([A-Za-z]+)$/.exec(name ?? "") ?? [];
  if (Object.hasOwn(activations, found)) return activations[found];
  throw new BertEdgeError(
    "checkpoint_unsupported",
    name === undefined
      ? `${file} has no activation_function.`
      : `${file}: the activation_function ${name} is not supported so far.`,
    {
      hint: `Supported: ${Object.keys(activations)
        .map((each) => `torch.nn.${each}`)
        .join(", ")}. For a module without an activation, set torch.nn.Identity.`,
    },
  );
}
