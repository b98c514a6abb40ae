import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";

/** Maximum number of labels that a message lists. */
const LISTED = 8;

const listed = (labels: readonly string[]): string =>
  labels.slice(0, LISTED).join(", ") + (labels.length > LISTED ? ` and ${labels.length - LISTED} more` : "");

/** Returns the error for a model that cannot compare a text with others: it is no sentence encoder, and `pairScorer` finds no score. */
export function cannotRank({ name, ...manifest }: Manifest): BertEdgeError {
  if (manifest.task !== "classify") {
    return unsupported(
      `The model ${name} has the task ${manifest.task}, which gives no score of a text for another one.`,
      "Serve a cross-encoder, which is a classifier that was prepared with --input pair, or a sentence encoder.",
    );
  }
  const { input, labels } = manifest;
  if (labels.length > 2) {
    return unsupported(
      `The model ${name} has ${labels.length} labels (${listed(labels)}): only models with one or two give a single score.`,
      `${input === "pair" ? "" : "If it was trained with pairs of texts, prepare it with --input pair. "}Send pairs to /v1/classify or /predict, and sort them by the score of the label that you need.`,
    );
  }
  return unsupported(
    `The model ${name} reads single texts, and a score of two texts needs a model that reads pairs.`,
    "If it was trained with pairs of texts, prepare it with --input pair.",
  );
}

/** Returns the error for a model that cannot classify by labels of the request. */
export function cannotInfer(manifest: Manifest, entailment: number | undefined): BertEdgeError {
  if (manifest.task !== "classify") {
    return unsupported(
      `The model ${manifest.name} has the task ${manifest.task}, which does not score labels of the request.`,
      "Serve a classifier that was trained for natural language inference, or a sentence encoder.",
    );
  }
  const { name, input, labels } = manifest;
  if (entailment === undefined) {
    return unsupported(
      `The model ${name} cannot tell whether a text entails a label: no label begins with entail; its labels are ${listed(labels)}.`,
      "If it was trained for natural language inference, name its labels in id2label of config.json, and prepare it again" +
        `${input === "pair" ? "" : " with --input pair"}. Otherwise use such a model, or a sentence encoder.`,
    );
  }
  return unsupported(
    `The model ${name} reads single texts, and labels of the request need one that reads pairs of texts.`,
    "Prepare it with --input pair.",
  );
}

const unsupported = (message: string, hint: string) => new BertEdgeError("task_unsupported", message, { hint });
