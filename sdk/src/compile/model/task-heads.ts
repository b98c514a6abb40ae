import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { type TaskName, taskNames } from "../../artifact/manifest.ts";
import { encoderWeights } from "../checkpoint/encoder-weights.ts";
import { exportFiles } from "../checkpoint/export-files.ts";
import { families } from "../checkpoint/families/index.ts";
import type { HeadFormula } from "../checkpoint/head-formula.ts";
import { LINEAR } from "../checkpoint/late-interaction.ts";
import { readWeights } from "../checkpoint/model-folder.ts";
import { WatchedTensors } from "../checkpoint/read-tensors.ts";
import type { Encoder } from "../checkpoint/take-weights.ts";
import type { Head } from "../checkpoint/task-head.ts";

/** A task that needs a head. */
export type HeadedTask = Exclude<TaskName, "embed">;

/** The head that each task needs. */
export const headFor: Readonly<Record<HeadedTask, Head>> = {
  classify: "sequence-classification",
  tag: "token-classification",
  answer: "question-answering",
  "fill-mask": "masked-lm",
  sparse: "masked-lm",
  "token-vectors": "late-interaction",
};

/** Returns the tasks that one of these heads can do. */
export const tasksOf = (heads: readonly Head[]): HeadedTask[] =>
  taskNames.filter((task): task is HeadedTask => task !== "embed" && heads.includes(headFor[task]));

/** Returns the formulas of a family's heads, without heads whose formula needs a key of config.json. */
function formulasOf(modelType: string): [Head, HeadFormula][] {
  const heads = Object.entries(families[modelType]?.heads ?? {});
  return heads.flatMap(([head, schema]) => {
    const parsed = v.safeParse(schema, {});
    return parsed.success ? [[head as Head, parsed.output] as [Head, HeadFormula]] : [];
  });
}

/**
 * Finds the heads whose output layer is among the named tensors. In some families, the heads for texts and for tokens have the same
 * tensor names, so the result can have several heads.
 */
export function headsAmong(names: readonly string[], modelType: string): Head[] {
  const found = formulasOf(modelType)
    .filter(
      ([, { output }]) =>
        output && [`${output.name}.weight`, output.bias].some((name) => name !== undefined && names.includes(name)),
    )
    .map(([head]) => head);
  return names.includes(`${LINEAR}.weight`) ? [...found, "late-interaction"] : found;
}

/**
 * Checks that the weights have the head of a task that config.json does not name. config.json can name the class of a plain encoder
 * although the weights have a head: transformers loads the head if the caller names its class.
 *
 * @param possible tasks that config.json and modules.json name
 * @throws BertEdgeError `task_unsuitable`, and the errors of `readWeights` and `encoderWeights`
 */
export async function assertUnnamedHead(
  encoder: Omit<Encoder, "weights">,
  task: TaskName,
  { possible, onnx }: { readonly possible: readonly TaskName[]; readonly onnx: string | undefined },
): Promise<void> {
  const isExport = onnx !== undefined || (await exportFiles(encoder.folder)).length > 0;
  const others = isExport ? [] : besidesEncoder(encoder);
  const unnamed: readonly TaskName[] = tasksOf(headsAmong(others, encoder.config.modelType));
  if (unnamed.includes(task)) return;
  throw new BertEdgeError("task_unsuitable", `${encoder.folder} has no head for the task ${task}.`, {
    hint:
      `Its tasks: ${[...new Set([...possible, ...unnamed])].join(", ")}.` +
      (others.length > 0 ? ` Tensors that do not belong to the encoder: ${others.join(", ")}.` : ""),
  });
}

/** Returns the names of a folder's tensors that its encoder does not read. */
function besidesEncoder(encoder: Omit<Encoder, "weights">): readonly string[] {
  const weights = new WatchedTensors(readWeights(encoder.folder));
  encoderWeights({ ...encoder, weights });
  return weights.unread;
}
