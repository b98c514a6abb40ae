import { type Advice, BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { PREPARE_PAIRS } from "./classify.ts";

/** Maximum number of labels that a message lists. */
const LISTED = 8;

const listed = (labels: readonly string[]): string =>
  labels.slice(0, LISTED).join(", ") + (labels.length > LISTED ? ` and ${labels.length - LISTED} more` : "");

/** Returns the error for a model that cannot compare a text with others: it is no sentence encoder, and `pairScorer` finds no score. */
export function cannotRank(manifest: Manifest): BertEdgeError {
  if (manifest.task !== "classify") return otherTask(manifest, "does not rank documents", "cross-encoder");
  const { name, input, labels } = manifest;
  if (labels.length > 2) {
    return unsupported(
      `The model ${name} has ${labels.length} labels (${listed(labels)}): only models with one or two give a single score.`,
      [
        `${input === "pair" ? "" : `${PREPARE_PAIRS}, then `}send pairs of texts to /v1/classify or /predict, and sort them by the score of the label that you need`,
      ],
    );
  }
  return unsupported(`The model ${name} reads single texts, and ranking needs a model that reads pairs of texts.`, [
    PREPARE_PAIRS,
  ]);
}

/** Returns the error for a model that cannot classify by labels of the request. */
export function cannotInfer(manifest: Manifest, entailment: number | undefined): BertEdgeError {
  if (manifest.task !== "classify")
    return otherTask(manifest, "takes no labels", "model for natural language inference");
  const { name, input, labels } = manifest;
  if (entailment === undefined) {
    return unsupported(
      `The model ${name} cannot tell whether a text entails a label: no label begins with entail; its labels are ${listed(labels)}.`,
      [
        { task: "classify" },
        `serve a model that was trained for natural language inference, with labels in id2label of config.json that say so${input === "pair" ? "" : ", prepared with `bert-edge prepare <model> --input pair`"}`,
        "serve a sentence encoder",
      ],
    );
  }
  return unsupported(
    `The model ${name} reads single texts, and labels of the request need a model that reads pairs of texts.`,
    [PREPARE_PAIRS],
  );
}

/** @param other kind of model that can do the task, like sentence encoders */
const otherTask = ({ name, task }: Manifest, does: string, other: string): BertEdgeError =>
  unsupported(`The model ${name} has the task ${task}, and ${does}.`, [
    { task },
    `serve a sentence encoder, or a ${other}`,
  ]);

const unsupported = (message: string, hint: Advice) => new BertEdgeError("task_unsupported", message, { hint });
