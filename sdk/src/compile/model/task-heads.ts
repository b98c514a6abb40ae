import { type TaskName, taskNames } from "../../artifact/manifest.ts";
import type { Head } from "../checkpoint/task-head.ts";

/** A task that needs a head. */
export type HeadedTask = Exclude<TaskName, "embed">;

/** Heads of the tasks. */
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
