import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling } from "../../artifact/manifest.ts";
import { readJson } from "../files/json-file.ts";

const Modules = v.array(v.object({ path: v.string(), type: v.string() }));
const Length = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(3)));
const Transformer = v.object({ max_seq_length: Length });
/** `model_max_length` is 10³⁰ for tokenizers without a maximum length. */
const TokenizerConfig = v.object({ model_max_length: Length });
/**
 * Value of `pooling_mode`, a key of sentence-transformers 6 and newer: one mode, or several modes whose vectors are
 * concatenated.
 */
const PoolingMode = v.nullish(v.union([v.string(), v.array(v.string())]));
const PoolingConfig = v.objectWithRest({ pooling_mode: PoolingMode }, v.unknown());

/**
 * Supported pooling modes. The first three keys are values of `pooling_mode` in sentence-transformers 6 and newer. The
 * other keys are switches (true or false) of older versions.
 */
const poolings: Readonly<Record<string, Pooling>> = {
  mean: "mean",
  cls: "cls",
  max: "max",
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_max_tokens: "max",
};

/** How hidden states become a sentence embedding. */
export interface SentenceHead {
  pooling: Pooling;
  normalize: boolean;
  /** Maximum text length in tokens; undefined if only the position table limits it. */
  maxTokens: number | undefined;
}

/**
 * Reads sentence-transformers' modules.json and the files that it names. A folder without modules.json is a plain encoder,
 * which gets the usual mean pooling with normalization.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for other modules or pooling modes
 */
export async function readSentenceHead(folder: string): Promise<SentenceHead> {
  const modules = await readJson(folder, "modules.json", Modules);
  const transformer = await readJson(folder, "sentence_bert_config.json", Transformer);
  const tokenizer = await readJson(folder, "tokenizer_config.json", TokenizerConfig);
  const head: SentenceHead = {
    pooling: "mean",
    normalize: modules === undefined,
    maxTokens: transformer?.max_seq_length ?? tokenizer?.model_max_length ?? undefined,
  };
  for (const { type, path } of modules ?? []) {
    const kind = type.split(".").at(-1);
    if (kind === "Pooling") head.pooling = await readPooling(folder, join(path, "config.json"));
    else if (kind === "Normalize") head.normalize = true;
    else if (kind !== "Transformer") throw unsupported(folder, `the module ${type}`);
  }
  return head;
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
    hint: "Supported modules: Transformer, Normalize, and Pooling with one mode (mean, cls or max).",
  });
