import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ScoreActivation } from "../../artifact/manifest.ts";
import { readConfig } from "./model-folder.ts";
import type { ModelPlace } from "./model-place.ts";
import { readSentenceConfig } from "./modules/sentence-config.ts";
import type { Head } from "./task-head.ts";

const Name = v.nullish(v.string());
/** Keys that older versions of sentence-transformers write to a cross-encoder's config.json. */
const ModelKeys = v.object({
  sentence_transformers: v.nullish(v.looseObject({ activation_fn: Name })),
  sbert_ce_default_activation_function: Name,
});

/** Settings of a cross-encoder, a classifier of pairs, in sentence-transformers' files. */
export interface CrossEncoder {
  /** Activation that turns logits into scores; undefined if the files name none. */
  readonly activation: ScoreActivation | undefined;
}

/** Activations, by the last part of their name in torch. */
const activations: Readonly<Record<string, ScoreActivation>> = { Identity: "none", Sigmoid: "sigmoid" };

/**
 * Reads the settings of a cross-encoder; returns undefined for other models. As in sentence-transformers,
 * config_sentence_transformers.json overrules config.json, and activations that are not in torch are ignored.
 *
 * @param root the model folder
 * @param folder the folder of the Transformer module; often the same folder as `root`
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for an activation of torch other than Identity and Sigmoid
 */
export async function readCrossEncoder(root: string, folder: string): Promise<CrossEncoder | undefined> {
  const own = await readSentenceConfig(root);
  const { sentence_transformers: nested, sbert_ce_default_activation_function: old } = await readConfig(
    folder,
    ModelKeys,
  );
  if (own.model_type !== "CrossEncoder" && nested === undefined && old === undefined) return undefined;
  const path = own.activation_fn ?? nested?.activation_fn ?? old ?? undefined;
  return { activation: path?.startsWith("torch.") ? activationOf(folder, path) : undefined };
}

/**
 * Returns the head of a folder's model. sentence-transformers loads cross-encoders as classifiers, whatever class config.json names.
 *
 * @param named head of the class in config.json
 * @param isAlone whether the folder has no modules.json
 * @throws BertEdgeError the errors of `readCrossEncoder`
 */
export async function headOfCrossEncoder(
  { root, folder }: Pick<ModelPlace, "root" | "folder">,
  named: Head | "none",
  isAlone: boolean,
): Promise<Head | "none"> {
  if (named === "late-interaction") return named;
  const { model_type: type } = await readSentenceConfig(root);
  // A CrossEncoder without modules.json keeps this head: `assertModulesKept` refuses the folder unless the head is a classifier.
  if ((type === "CrossEncoder") === isAlone) return named;
  return (await readCrossEncoder(root, folder)) ? "sequence-classification" : named;
}

function activationOf(folder: string, path: string): ScoreActivation {
  const name = path.split(".").at(-1) ?? "";
  const activation = Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (activation) return activation;
  throw new BertEdgeError("checkpoint_unsupported", `${folder}: the activation ${path} is not supported so far.`, {
    hint: `Supported activations of cross-encoders: ${Object.keys(activations).join(", ")}.`,
  });
}
