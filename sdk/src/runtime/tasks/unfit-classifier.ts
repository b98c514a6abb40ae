import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, taskUnsupported } from "../../artifact/manifest.ts";

/** Maximum number of labels that a message lists. */
const LISTED = 8;

const listed = (labels: readonly string[]): string =>
  labels.slice(0, LISTED).join(", ") + (labels.length > LISTED ? ` and ${labels.length - LISTED} more` : "");

/** Returns the error for a model that cannot rank documents: it is neither a sentence encoder nor a cross-encoder with one label. */
export function cannotRank(manifest: Manifest): BertEdgeError {
  if (manifest.task !== "classify") return taskUnsupported(manifest, "embed");
  const { name, input, labels } = manifest;
  const prepare = input === "pair" ? "" : "Prepare it with --input pair. ";
  if (labels.length === 1) {
    return unsupported(
      `The model ${name} reads single texts, and ranking needs one that reads pairs of texts.`,
      prepare.trim(),
    );
  }
  const reads = input === "pair" ? "" : "reads single texts, and ";
  return unsupported(
    `The model ${name} ${reads}has ${labels.length} labels (${listed(labels)}): only a model with one label ranks documents.`,
    `${prepare}Send pairs of texts to /v1/classify or /predict, and sort them by the score of the label that you need.`,
  );
}

/** Returns the error for a model that cannot classify by labels of the request. */
export function cannotInfer(manifest: Manifest, entailment: number | undefined): BertEdgeError {
  if (manifest.task !== "classify") return taskUnsupported(manifest, "embed");
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
