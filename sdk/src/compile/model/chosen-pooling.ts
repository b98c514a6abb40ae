import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Pooling, TaskName } from "../../artifact/manifest.ts";
import type { VectorHead } from "../../runtime/engine/engine.ts";
import type { Modules } from "../checkpoint/sentence-transformers.ts";

/** The user's choice of pooling and normalization, for folders without modules.json. */
export interface PoolingChoice {
  /** Default: what modules.json or the ONNX file says, else the mean. */
  readonly pooling?: Pooling | undefined;
  /** Whether vectors get the length 1. Default: what modules.json or the ONNX file says, else true. */
  readonly normalize?: boolean | undefined;
}

/** Whether the user chose a pooling or a normalization. */
export const choosesPooling = ({ pooling, normalize }: PoolingChoice): boolean =>
  pooling !== undefined || normalize !== undefined;

const optionsOf = ({ pooling, normalize }: PoolingChoice): string =>
  [
    ...(pooling === undefined ? [] : [`--pooling ${pooling}`]),
    ...(normalize === undefined ? [] : [normalize ? "normalize" : "--no-normalize"]),
  ].join(" ");

/**
 * Returns the pooling of a sentence encoder: the pooling of modules.json, or the user's choice if there is no such file.
 *
 * @throws BertEdgeError `setting_invalid` if the choice contradicts modules.json
 */
export function chosenPooling(root: string, modules: Modules, choice: PoolingChoice): VectorHead {
  const { pooling, normalize, isAssumed } = modules;
  const chosen = { pooling: choice.pooling ?? pooling, normalize: choice.normalize ?? normalize };
  const isSame = chosen.pooling === pooling && chosen.normalize === normalize;
  if (isAssumed || isSame) return chosen;
  throw new BertEdgeError(
    "setting_invalid",
    `${optionsOf(choice)} contradicts ${join(root, "modules.json")}, which says that vectors are pooled by ${pooling}, and ${normalize ? "" : "not "}normalized.`,
    {
      hint: "Leave out --pooling and --no-normalize. If modules.json is wrong, correct it and the files that it names.",
    },
  );
}

/** @throws BertEdgeError `setting_invalid` if a pooling is chosen for another task than `embed` */
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
