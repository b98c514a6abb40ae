import { BertEdgeError } from "../../artifact/error.ts";
import type { Task, TaskScore } from "../../artifact/manifest.ts";
import type { Compute } from "./tasks/each-text-once.ts";
import { readLabelled } from "./tasks/read-labelled.ts";
import { readSts } from "./tasks/read-sts.ts";
import { scoreClassification } from "./tasks/score-classification.ts";
import { scoreSts } from "./tasks/score-sts.ts";

/** Data that tells how well a model does its task, with the metric that says it. */
export interface TaskData {
  readonly metric: TaskScore["metric"];
  readonly score: (compute: Compute) => Promise<number>;
}

export interface TaskFiles {
  /** Pairs of sentences with scores, as STS-B's files: for sentence encoders. */
  sts?: string | undefined;
  /** Lines of a text, a tab and its label: for classifiers. */
  labelled?: string | undefined;
}

/**
 * @returns undefined when no file is given
 * @throws BertEdgeError `data_missing`, `data_invalid`; `data_unsuitable` for data of another task than the model's, and for
 *   pairs without an order
 */
export async function readTaskData(task: Task, { sts, labelled }: TaskFiles): Promise<TaskData | undefined> {
  if (task.task === "embed") {
    if (labelled !== undefined) throw unsuitable(labelled, "labelled texts", "a sentence encoder", "--sts");
    if (sts === undefined) return undefined;
    const pairs = await readSts(sts);
    if (new Set(pairs.map(({ score }) => score)).size < 2) {
      throw new BertEdgeError("data_unsuitable", `${sts} gives all pairs the same score.`, {
        hint: "A correlation needs pairs that are more alike than others.",
      });
    }
    return { metric: "sts", score: (compute) => scoreSts(pairs, compute) };
  }
  if (sts !== undefined) throw unsuitable(sts, "scored pairs of sentences", "a classifier", "--labelled");
  if (labelled === undefined) return undefined;
  const texts = await readLabelled(labelled, task.labels);
  return { metric: "accuracy", score: (compute) => scoreClassification(texts, compute) };
}

const unsuitable = (path: string, what: string, model: string, option: string) =>
  new BertEdgeError("data_unsuitable", `${path} holds ${what}, and the model is ${model}.`, {
    hint: `Its metric takes ${option}.`,
  });
