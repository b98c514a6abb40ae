import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Pooling } from "../../../artifact/manifest.ts";
import { readJson } from "../../files/json-file.ts";
import { type Module, unsupportedModules } from "./module-list.ts";

/**
 * Value of `pooling_mode`, a key of sentence-transformers 5.4 and newer: one mode, or several modes whose vectors are
 * concatenated.
 */
const PoolingMode = v.nullish(v.union([v.string(), v.array(v.string())]));
const PoolingConfig = v.looseObject({ pooling_mode: PoolingMode, include_prompt: v.nullish(v.boolean()) });

/**
 * Supported pooling modes. The first four keys are values of `pooling_mode` in sentence-transformers 5.4 and newer. The
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

/** Configuration of a Pooling module. */
export interface PoolingConfig {
  readonly pooling: Pooling;
  /** Whether the tokens of a prompt are pooled with those of the text. */
  readonly poolsPrompt: boolean;
}

/** @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for other pooling modes */
export async function readPooling(folder: string, { path }: Module): Promise<PoolingConfig> {
  const file = join(path, "config.json");
  const config = await readJson(folder, file, PoolingConfig);
  if (!config) {
    throw new BertEdgeError(
      "checkpoint_invalid",
      `modules.json names ${join(folder, file)}, but this file does not exist.`,
      { hint: "Copy the whole model folder, with its subfolders such as 1_Pooling." },
    );
  }
  const switches = Object.keys(config).filter((key) => key.startsWith("pooling_mode_"));
  const chosen = switches.length > 0 ? switches.filter((key) => config[key] === true) : "mean";
  const modes = [config.pooling_mode ?? chosen].flat();
  const [first = ""] = modes;
  const pooling = Object.hasOwn(poolings, first) ? poolings[first] : undefined;
  if (!pooling || modes.length !== 1) throw unsupportedModules(folder, `the pooling ${modes.join(" + ") || "(none)"}`);
  return { pooling, poolsPrompt: config.include_prompt ?? true };
}
