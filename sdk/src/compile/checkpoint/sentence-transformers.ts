import { existsSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling } from "../../artifact/manifest.ts";
import { MODULES } from "./model-place.ts";
import {
  type Module,
  type ModuleList,
  readModuleList,
  readPooling,
  unsupportedModules,
} from "./modules/module-list.ts";
import { readSentenceConfig, SENTENCE_CONFIG } from "./modules/sentence-config.ts";
import { readTransformerConfig } from "./modules/transformer-config.ts";
import type { Head } from "./task-head.ts";

/** Steps that sentence-transformers runs on a model's hidden states or logits, and the settings of its files. */
export interface Modules {
  readonly task: "embed" | "sparse" | "token-vectors";
  readonly pooling: Pooling;
  /** Whether the tokens of a prompt are pooled with those of the text. */
  readonly poolsPrompt: boolean;
  readonly normalize: boolean;
  /** Maximum text length in tokens; undefined if only the position table limits it. */
  readonly maxTokens: number | undefined;
  /** Dense modules that project hidden states to token vectors, in the order in which they run. */
  readonly projections: readonly Module[];
  /** Whether the folder has no modules.json. A plain encoder gets the usual mean pooling with normalization. */
  readonly isAssumed: boolean;
  /** Whether PyLate wrote one of the modules. */
  readonly isPyLate: boolean;
  /** Name of the function that compares vectors; undefined if the folder's files name none. */
  readonly similarity: string | undefined;
}

/**
 * Reads sentence-transformers' modules.json and the files that it names.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for modules, sequences of modules and poolings that
 *   bert-edge does not support
 */
export async function readModules(folder: string): Promise<Modules> {
  const list = await readModuleList(folder);
  const { similarity_fn_name: similarity, model_type: type } = await readSentenceConfig(folder);
  const { maxTokens, task } = await readTransformerConfig(folder, list?.transformer.path ?? "");
  const common = {
    ...{ maxTokens, projections: [], poolsPrompt: true, isAssumed: list === undefined },
    ...{ similarity: similarity ?? undefined, isPyLate: list?.isPyLate ?? false },
  };
  if (!list) return { ...common, task: "embed", pooling: "mean", normalize: true };
  const computed = taskOf(list);
  if (computed !== "classify") assertClass(folder, computed, type ?? undefined);
  assertOutputs(folder, list, task);
  if (list.splade) return { ...common, task: "sparse", pooling: "max", normalize: false };
  if (list.dense.length > 0) {
    return { ...common, task: "token-vectors", pooling: "mean", normalize: true, projections: list.dense };
  }
  return {
    ...common,
    task: "embed",
    ...(list.pooling ? await readPooling(folder, list.pooling) : { pooling: "mean" }),
    normalize: list.normalize.length > 0,
  };
}

const taskOf = ({ splade, dense, pooling }: ModuleList) =>
  splade ? "sparse" : dense.length > 0 ? "token-vectors" : pooling ? "embed" : "classify";

/** Classes of sentence-transformers and PyLate, by the task of their modules. */
const classes: Readonly<Record<Modules["task"], readonly string[]>> = {
  embed: ["SentenceTransformer"],
  sparse: ["SparseEncoder"],
  // PyLate keeps the class of the model that a ColBERT was made from.
  "token-vectors": ["ColBERT", "MultiVectorEncoder", "SentenceTransformer"],
};

function assertClass(folder: string, task: Modules["task"], type: string | undefined): void {
  if (type === undefined || classes[task].includes(type)) return;
  throw unsupportedModules(folder, `the class ${type} with the modules of a ${classes[task][0]}`);
}

/** Checks that the Transformer computes what the next module reads: hidden states or logits. */
function assertOutputs(
  folder: string,
  { transformer, pooling, splade, dense }: ModuleList,
  task: string | undefined,
): void {
  const computes = task ?? (transformer.kind === "MLMTransformer" ? "fill-mask" : "feature-extraction");
  const wanted = splade ? "fill-mask" : pooling || dense.length > 0 ? "feature-extraction" : "sequence-classification";
  if (computes === wanted) return;
  const next = splade ? "SpladePooling" : pooling ? "Pooling" : dense.length > 0 ? "Dense" : "no other module";
  throw unsupportedModules(folder, `a Transformer with the transformer_task ${computes} before ${next}`);
}

/**
 * Refuses a folder that has lost its modules.json, and so the pooling of its sentence encoder.
 *
 * @throws BertEdgeError `checkpoint_missing`
 */
export async function assertPoolingKept(folder: string): Promise<void> {
  const { model_type: type } = await readSentenceConfig(folder);
  const says = type === "SentenceTransformer" ? `${SENTENCE_CONFIG} says that it is a ${type}` : undefined;
  const has = existsSync(join(folder, POOLING)) ? `it has the folder ${POOLING}` : undefined;
  if (!says && !has) return;
  throw new BertEdgeError("checkpoint_missing", `${folder} has no ${MODULES}, but ${says ?? has}.`, {
    hint: "Copy the whole model folder, with modules.json and the subfolders that it names. If the file is lost, choose the pooling with which the model was trained: `--pooling mean`, `cls`, `max` or `last`, and `--no-normalize` if the model's vectors do not have the length 1.",
  });
}

/** Usual folder of a Pooling module. */
const POOLING = "1_Pooling";

/**
 * Refuses a folder that has lost its modules.json, if the class that saved it does more than the usual pooling.
 *
 * @param head head of the model's class in transformers
 * @throws BertEdgeError `checkpoint_missing`
 */
export async function assertModulesKept(folder: string, { isAssumed }: Modules, head: Head | "none"): Promise<void> {
  if (!isAssumed) return;
  const { model_type: type } = await readSentenceConfig(folder);
  if (type == null || type === "SentenceTransformer") return;
  if (type === "CrossEncoder" && head === "sequence-classification") return;
  throw new BertEdgeError(
    "checkpoint_missing",
    `${folder} has no modules.json, but its ${SENTENCE_CONFIG} says that it is a ${type}.`,
    { hint: "Copy the whole model folder, with modules.json and the subfolders that it names." },
  );
}
