import type { Task } from "./manifest.ts";

/** Logits of question answering for each token: one for the start of the answer, and one for its end. */
const STARTS_AND_ENDS = 2;

/**
 * Returns the width of a model's output: how many numbers each text or token has.
 *
 * @param vocabulary number of tokens in the model's vocabulary
 */
export function outputWidth(task: Task, vocabulary: number): number {
  switch (task.task) {
    case "embed":
    case "token-vectors":
      return task.dimensions;
    case "classify":
    case "tag":
      return task.labels.length;
    case "answer":
      return STARTS_AND_ENDS;
    case "fill-mask":
    case "sparse":
      return vocabulary;
  }
}
