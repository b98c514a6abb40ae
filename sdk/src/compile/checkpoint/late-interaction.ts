import { join, relative } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readJson } from "../files/json-file.ts";
import { Count } from "./config-keys.ts";
import { type HeadFormula, linearHead } from "./head-formula.ts";
import { readWeights } from "./model-folder.ts";
import { readModules } from "./sentence-transformers.ts";

/** Projection of a late-interaction model, which maps hidden states to token vectors: https://arxiv.org/abs/2004.12832 */
export interface LateInteraction {
  readonly head: HeadFormula;
  /** Width of token vectors. */
  readonly outputs: number;
  /** Folder of the module that has the weights; undefined if they are with the encoder's. */
  readonly module: string | undefined;
}

const DenseConfig = v.object({
  out_features: Count,
  bias: v.optional(v.boolean(), true),
  activation_function: v.optional(v.string(), "Identity"),
});

/** Name of the projection in both formats. */
export const LINEAR = "linear";

/**
 * Reads how a model projects hidden states to token vectors: with a Dense module of sentence-transformers (PyLate writes it),
 * or with the layer `linear` of Stanford's ColBERT.
 *
 * @param root folder with modules.json
 * @param folder folder with the encoder
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`, `checkpoint_unsupported`
 */
export async function lateInteraction(root: string, folder: string): Promise<LateInteraction> {
  const { projection } = await readModules(root, folder);
  if (projection !== undefined) return ofModule(folder, relative(folder, join(root, projection)));
  const [outputs] = readWeights(folder).get(`${LINEAR}.weight`)?.shape ?? [];
  if (outputs === undefined) {
    throw new BertEdgeError("checkpoint_invalid", `${folder} has no tensor ${LINEAR}.weight.`, {
      hint: "Models of the class HF_ColBERT have this projection. Download or save the model again.",
    });
  }
  return { head: headOf(LINEAR, false), outputs, module: undefined };
}

async function ofModule(folder: string, module: string): Promise<LateInteraction> {
  const file = join(module, "config.json");
  const config = await readJson(folder, file, DenseConfig);
  if (!config) {
    throw new BertEdgeError("checkpoint_missing", `${join(folder, file)} does not exist.`, {
      hint: "Copy the whole model folder, with its subfolders such as 1_Dense.",
    });
  }
  if (!/(^|\.)Identity$/.test(config.activation_function)) {
    throw new BertEdgeError(
      "checkpoint_unsupported",
      `${join(folder, file)}: the activation ${config.activation_function} is not supported so far.`,
      { hint: "Token vectors are computed by a linear layer without activation (Identity)." },
    );
  }
  return { head: headOf(`${module}/${LINEAR}`, config.bias), outputs: config.out_features, module };
}

function headOf(name: string, hasBias: boolean): HeadFormula {
  const head = linearHead(name);
  return hasBias ? head : { ...head, output: { ...head.output, bias: undefined } };
}
