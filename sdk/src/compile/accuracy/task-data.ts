import { BertEdgeError } from "../../artifact/error.ts";
import type { Task, TaskScore } from "../../artifact/manifest.ts";
import { type LabelledText, readLabelled, scoreClassification } from "./tasks/classification.ts";
import type { Compute } from "./tasks/each-text-once.ts";
import { readSts, type StsPair, scoreSts } from "./tasks/sts.ts";

/** A metric, and a function that scores a model on the user's data. */
export interface TaskData {
  readonly metric: TaskScore["metric"];
  readonly score: (compute: Compute) => Promise<number>;
  /** The entries of the file. A stage that scores a model on these entries includes them in its cache key. */
  readonly content: readonly (StsPair | LabelledText)[];
}

export interface TaskFiles {
  /** File of scored sentence pairs in the format of STS-B, for sentence encoders. */
  sts?: string | undefined;
  /** File with a text, a tab and its label per line, for classifiers. */
  labelled?: string | undefined;
}

/**
 * Reads the file that fits the model's task.
 *
 * @returns undefined when no file is given
 * @throws BertEdgeError `data_missing`, `data_invalid`; `data_unsuitable` when the data does not fit the task, or all pairs
 *   have the same score
 */
export async function readTaskData(task: Task, { sts, labelled }: TaskFiles): Promise<TaskData | undefined> {
  if (task.task === "embed") {
    if (labelled !== undefined)
      throw unsuitable(
        labelled,
        "labelled texts",
        "a sentence encoder",
        "Use --sts, which takes scored pairs of sentences.",
      );
    if (sts === undefined) return undefined;
    const pairs = await readSts(sts);
    if (new Set(pairs.map(({ score }) => score)).size < 2) {
      throw new BertEdgeError("data_unsuitable", `All pairs in ${sts} have the same score.`, {
        hint: "Give a file of pairs with different scores. If all scores are equal, no correlation can be computed.",
      });
    }
    return { metric: "sts", content: pairs, score: (compute) => scoreSts(pairs, compute) };
  }
  if (sts !== undefined)
    throw unsuitable(
      sts,
      "scored pairs of sentences",
      "no sentence encoder",
      "Use --labelled for classifiers of texts.",
    );
  if (labelled === undefined) return undefined;
  if (task.task !== "classify" || task.input === "pair")
    throw unsuitable(labelled, "labelled texts", "no classifier of texts", "Leave --labelled out.");
  const texts = await readLabelled(labelled, task.labels);
  return { metric: "accuracy", content: texts, score: (compute) => scoreClassification(texts, compute) };
}

const unsuitable = (path: string, what: string, model: string, hint: string) =>
  new BertEdgeError("data_unsuitable", `${path} contains ${what}, but the model is ${model}.`, { hint });
