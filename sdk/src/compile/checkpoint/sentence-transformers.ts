import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling } from "../../artifact/manifest.ts";
import { isInnerPath } from "../../storage/inner-path.ts";
import { readJson } from "../files/json-file.ts";
import { modulePath } from "./transformer-folder.ts";

/** Folder of a module; empty for the model folder itself. */
const ModulePath = v.pipe(
  v.string(),
  v.transform(modulePath),
  v.check((path) => path === "" || isInnerPath(path), "the path leads out of the model folder"),
);
const ModuleList = v.array(v.object({ path: ModulePath, type: v.string() }));
const Length = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(3)));
const Transformer = v.object({ max_seq_length: Length });
/** `model_max_length` is 10³⁰ for tokenizers without a maximum length. */
const TokenizerConfig = v.object({ model_max_length: Length });
/**
 * Value of `pooling_mode`, a key of sentence-transformers 6 and newer: one mode, or several modes whose vectors are
 * concatenated.
 */
const PoolingMode = v.nullish(v.union([v.string(), v.array(v.string())]));
const SpladeConfig = v.object({
  pooling_strategy: v.optional(v.string()),
  activation_function: v.optional(v.string()),
});
const PoolingConfig = v.objectWithRest({ pooling_mode: PoolingMode }, v.unknown());

/**
 * Supported pooling modes. The first four keys are values of `pooling_mode` in sentence-transformers 6 and newer. The
 * other keys are switches (true or false) of older versions.
 */
const poolings: Readonly<Record<string, Pooling>> = {
  mean: "mean",
  cls: "cls",
  max: "max",
  lasttoken: "last",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
  pooling_mode_lasttoken: "last",
};

/** What sentence-transformers computes from a model's hidden states or logits. */
export interface Modules {
  readonly task: "embed" | "sparse" | "token-vectors";
  readonly pooling: Pooling;
  readonly normalize: boolean;
  /** Maximum text length in tokens; undefined if only the position table limits it. */
  readonly maxTokens: number | undefined;
  /** Folder of the Dense module that projects hidden states to token vectors. */
  readonly projection: string | undefined;
  /** Whether the folder has no modules.json. A plain encoder gets the usual mean pooling with normalization. */
  readonly isAssumed: boolean;
}

/**
 * Reads sentence-transformers' modules.json and the files that it names.
 *
 * @param transformer folder of the Transformer module, if it is not the model folder itself
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for other modules or pooling modes
 */
export async function readModules(folder: string, transformer = folder): Promise<Modules> {
  const modules = await readJson(folder, "modules.json", ModuleList);
  const lengths = await readJson(transformer, "sentence_bert_config.json", Transformer);
  const tokenizer = await readJson(transformer, "tokenizer_config.json", TokenizerConfig);
  const maxTokens = lengths?.max_seq_length ?? tokenizer?.model_max_length ?? undefined;
  const found = { pooling: "mean" as Pooling, maxTokens, projection: undefined, isAssumed: modules === undefined };
  const listed = (modules ?? []).map(({ type, path }) => ({ kind: type.split(".").at(-1) ?? "", type, path }));
  const at = (kind: string) => listed.find((module) => module.kind === kind)?.path;
  const [pooling, splade, dense] = [at("Pooling"), at("SpladePooling"), at("Dense")];
  const other =
    listed.find(({ kind }) => !KINDS.includes(kind)) ??
    (pooling !== undefined && dense !== undefined ? listed.find(({ kind }) => kind === "Dense") : undefined);
  if (other) throw unsupported(folder, `the module ${other.type}`);
  if (splade !== undefined) {
    await assertSplade(folder, splade);
    return { ...found, task: "sparse", pooling: "max", normalize: false };
  }
  if (dense !== undefined) return { ...found, task: "token-vectors", normalize: true, projection: dense };
  return {
    ...found,
    task: "embed",
    pooling: pooling === undefined ? "mean" : await readPooling(folder, join(pooling, "config.json")),
    normalize: modules === undefined || at("Normalize") !== undefined,
  };
}

/** Supported modules: the last part of `type` in modules.json. */
const KINDS = ["Transformer", "MLMTransformer", "Pooling", "Normalize", "SpladePooling", "Dense"];

/**
 * Checks that SPLADE computes max(log(1 + relu(logits))) over the tokens, as in https://arxiv.org/abs/2109.10086
 */
async function assertSplade(folder: string, path: string): Promise<void> {
  const config = await readJson(folder, join(path, "config.json"), SpladeConfig);
  const { pooling_strategy = "max", activation_function = "relu" } = config ?? {};
  if (pooling_strategy !== "max" || activation_function !== "relu") {
    throw unsupported(folder, `the pooling ${pooling_strategy} of ${activation_function}`);
  }
}

async function readPooling(folder: string, file: string): Promise<Pooling> {
  const config = await readJson(folder, file, PoolingConfig);
  if (!config)
    throw new BertEdgeError(
      "checkpoint_invalid",
      `modules.json names ${join(folder, file)}, but this file does not exist.`,
      {
        hint: "Copy the whole model folder, with its subfolders such as 1_Pooling.",
      },
    );
  const switches = Object.keys(config).filter((key) => key.startsWith("pooling_mode_") && config[key] === true);
  const modes = [config.pooling_mode ?? switches].flat();
  const [first = ""] = modes;
  const pooling = Object.hasOwn(poolings, first) ? poolings[first] : undefined;
  if (!pooling || modes.length !== 1) throw unsupported(folder, `the pooling ${modes.join(" + ") || "(none)"}`);
  return pooling;
}

const unsupported = (folder: string, what: string) =>
  new BertEdgeError("checkpoint_unsupported", `${folder}: ${what} is not supported so far.`, {
    hint:
      "Supported modules: Transformer, Normalize, Pooling with one mode (mean, cls, max or lasttoken), SpladePooling (max of relu), and " +
      "one Dense instead of Pooling.",
  });
