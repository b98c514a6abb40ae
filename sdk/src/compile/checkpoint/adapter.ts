import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { readJson } from "../files/json-file.ts";
import { pythonCommand } from "../files/python-command.ts";
import { storedFile } from "../files/stored-file.ts";
import type { ModelPlace } from "./model-place.ts";
import { readTensors } from "./read-tensors.ts";

/** The file by which transformers, sentence-transformers and PEFT know that a folder has an adapter. */
export const ADAPTER_CONFIG = "adapter_config.json";

const ADAPTER_WEIGHTS = "adapter_model.safetensors";

const AdapterConfig = v.looseObject({
  base_model_name_or_path: v.nullish(v.string()),
  peft_type: v.nullish(v.string()),
  task_type: v.nullish(v.string()),
  auto_mapping: v.nullish(v.looseObject({ base_model_class: v.nullish(v.string()) })),
});
type AdapterConfig = v.InferOutput<typeof AdapterConfig>;

const Config = v.looseObject({ architectures: v.nullish(v.array(v.string())) });

/** Kinds of adapters that are learned inputs. They change no weights, so PEFT cannot merge them. */
const LEARNED_INPUTS = /PROMPT|PREFIX|P_TUNING|CPT/;

/** Classes of transformers for the values of `task_type` that PEFT writes for encoders. */
const classes: Readonly<Record<string, string>> = {
  SEQ_CLS: "AutoModelForSequenceClassification",
  TOKEN_CLS: "AutoModelForTokenClassification",
  QUESTION_ANS: "AutoModelForQuestionAnswering",
};

/** Matches the name of a weight matrix with one row per label: the classifier that was trained with the adapter. */
const CLASSIFIER = /\b(classifier|score)(\.out_proj)?\.weight$/;

/**
 * Refuses a folder with an adapter of PEFT, alone or beside its base model. The Python libraries apply the adapter to the
 * base model, so the base model alone gives other results.
 *
 * @throws BertEdgeError `checkpoint_unsupported` with the command that merges the adapter into its model; `checkpoint_invalid`
 */
export async function assertNoAdapter({ root, folder }: Pick<ModelPlace, "root" | "folder">): Promise<void> {
  const adapter = await readJson(folder, ADAPTER_CONFIG, AdapterConfig);
  if (!adapter) return;
  const base = await readJson(folder, "config.json", Config);
  const what = base
    ? `has an adapter (${ADAPTER_CONFIG}) besides its model. transformers applies it, and bert-edge does not`
    : `has an adapter (${ADAPTER_CONFIG}), but no model`;
  throw new BertEdgeError("checkpoint_unsupported", `${folder} ${what}.`, {
    hint: LEARNED_INPUTS.test(adapter.peft_type ?? "")
      ? `Adapters of the kind ${adapter.peft_type} cannot be merged into a model. Remove adapter_* to prepare the model without it.`
      : `Merge the adapter into its model, and give the folder that this command writes, ${mergedFolder(root)}:\n    ${mergeCommand({ root, folder }, adapter, base?.architectures?.[0])}`,
  });
}

const mergedFolder = (folder: string): string => `${resolve(folder)}-merged`;

/** Returns the command that writes a copy of the whole folder in which the Transformer has merged weights. */
function mergeCommand(
  { root, folder }: Pick<ModelPlace, "root" | "folder">,
  adapter: AdapterConfig,
  architecture: string | undefined,
): string {
  const inner = relative(root, folder);
  const [from, to] =
    inner === "" ? ["a", "b"] : [`a + ${JSON.stringify(`/${inner}`)}`, `b + ${JSON.stringify(`/${inner}`)}`];
  const name = architecture ?? adapter.auto_mapping?.base_model_class ?? classes[adapter.task_type ?? ""];
  const model = name !== undefined && /^\w+$/.test(name) ? name : "AutoModel";
  const isAlone = architecture === undefined && !existsSync(join(folder, "config.json"));
  const base = isAlone ? JSON.stringify(adapter.base_model_name_or_path || "<base model>") : to;
  const labels = isAlone ? labelsOf(folder) : undefined;
  const hasTokenizer = !isAlone || existsSync(join(folder, "tokenizer.json"));
  return pythonCommand(
    [
      `import shutil; from peft import PeftModel; from transformers import AutoTokenizer, ${model} as M`,
      `a, b = ${JSON.stringify(root)}, ${JSON.stringify(mergedFolder(root))}`,
      'shutil.copytree(a, b, ignore=shutil.ignore_patterns("adapter_*"))',
      `m = M.from_pretrained(${base}${labels === undefined ? "" : `, num_labels=${labels}`})`,
      `PeftModel.from_pretrained(m, ${from}).merge_and_unload().save_pretrained(${to})`,
      ...(hasTokenizer ? [] : [`AutoTokenizer.from_pretrained(${base}).save_pretrained(${to})`]),
    ].join("; "),
  );
}

/** Returns the number of labels of the classifier in an adapter's file; undefined if the file has no classifier. */
function labelsOf(folder: string): number | undefined {
  const path = join(folder, ADAPTER_WEIGHTS);
  if (!existsSync(path)) return undefined;
  const found = [...readTensors(storedFile(path), path)].find(([name]) => CLASSIFIER.test(name));
  return found?.[1].shape[0];
}
