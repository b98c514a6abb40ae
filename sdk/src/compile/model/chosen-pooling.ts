import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling, TaskName } from "../../artifact/manifest.ts";
import type { VectorHead } from "../../runtime/engine/engine.ts";
import type { Modules } from "../checkpoint/sentence-transformers.ts";

/** How to make a vector of the hidden states, for folders without modules.json. */
export interface PoolingChoice {
  /** Default: what modules.json or the ONNX file says, else the mean. */
  readonly pooling?: Pooling | undefined;
  /** Whether vectors get the length 1. Default: what modules.json or the ONNX file says, else true. */
  readonly normalize?: boolean | undefined;
}

/** Whether a choice says anything. */
export const choosesPooling = ({ pooling, normalize }: PoolingChoice): boolean =>
  pooling !== undefined || normalize !== undefined;

const optionsOf = ({ pooling, normalize }: PoolingChoice): string =>
  [
    ...(pooling === undefined ? [] : [`--pooling ${pooling}`]),
    ...(normalize === undefined ? [] : [normalize ? "normalize" : "--no-normalize"]),
  ].join(" ");

/**
 * Returns the pooling of a sentence encoder: that of modules.json, or the chosen one if there is no such file.
 *
 * @throws BertEdgeError `setting_invalid` if modules.json says otherwise
 */
export function chosenPooling(root: string, modules: Modules, choice: PoolingChoice): VectorHead {
  const { pooling, normalize, isAssumed } = modules;
  const chosen = { pooling: choice.pooling ?? pooling, normalize: choice.normalize ?? normalize };
  const isSame = chosen.pooling === pooling && chosen.normalize === normalize;
  if (isAssumed || isSame) return chosen;
  throw new BertEdgeError(
    "setting_invalid",
    `${optionsOf(choice)} contradicts ${join(root, "modules.json")}: vectors are pooled by ${pooling}, and ${normalize ? "" : "not "}normalized.`,
    {
      hint: "Leave out --pooling and --no-normalize. If modules.json is wrong, correct it and the files that it names.",
    },
  );
}

/** @throws BertEdgeError `setting_invalid` if a pooling is chosen for a model of another task */
export function assertNoPooling(task: TaskName, choice: PoolingChoice): void {
  if (!choosesPooling(choice)) return;
  throw new BertEdgeError(
    "setting_invalid",
    `${optionsOf(choice)} is for sentence encoders, but the task is ${task}.`,
    {
      hint: "Leave out --pooling and --no-normalize, or choose --task embed if the model can do it.",
    },
  );
}
