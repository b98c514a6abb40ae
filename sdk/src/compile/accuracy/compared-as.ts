import type { Task } from "../../artifact/manifest.ts";
import { outputWidth } from "../../artifact/output-width.ts";

/** How results of a task are compared. */
export interface Compared {
  /** Vectors are compared by their directions, logits by their differences. */
  readonly are: "vectors" | "logits";
  /** Width of the rows that a result consists of. Each row is compared. undefined: the whole result is one row. */
  readonly width?: number | undefined;
  /**
   * Whether the largest logit of each column is compared, instead of the largest logit of each row. Question answering
   * chooses a token for the start and one for the end.
   */
  readonly choosesRows?: boolean;
}

/** @param vocabulary number of tokens in the model's vocabulary */
export function comparedAs(task: Task, vocabulary: number): Compared {
  const are = /^(embed|sparse|token-vectors)$/.test(task.task) ? "vectors" : "logits";
  const isOneRow = /^(embed|sparse|classify)$/.test(task.task);
  return {
    are,
    width: isOneRow ? undefined : outputWidth(task, vocabulary),
    choosesRows: task.task === "answer",
  };
}
