import type { Task } from "./manifest.ts";

/** Question answering has two logits for each token: that the answer starts there, and that it ends there. */
const STARTS_AND_ENDS = 2;

/**
 * Returns the width of a model's output: the numbers of each text or token.
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
