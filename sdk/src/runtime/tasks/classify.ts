import type { ProblemType } from "../../artifact/manifest.ts";
import { bestOf } from "./best-of.ts";
import { softmax } from "./softmax.ts";

/** How logits become scores: transformers' `function_to_apply`. */
export type Activation = "softmax" | "sigmoid" | "none";

/** A label, and how well it fits. */
export interface LabelScore {
  readonly label: string;
  readonly score: number;
}

/** The logistic function 1 / (1 + e⁻ˣ), which torch calls sigmoid. */
export const logistic = (x: number): number => 1 / (1 + Math.exp(-x));

const activations: Record<Activation, (logits: Float32Array) => ArrayLike<number>> = {
  softmax,
  sigmoid: (logits) => Float64Array.from(logits, logistic),
  none: (logits) => logits,
};

/**
 * Returns the activation that transformers' TextClassificationPipeline applies by default: none to regressions, sigmoid if
 * several labels can be true or the model has only one, else softmax.
 */
export function defaultActivation(labels: number, problemType?: ProblemType): Activation {
  if (problemType === "regression") return "none";
  return problemType === "multi_label_classification" || labels === 1 ? "sigmoid" : "softmax";
}

/**
 * Scores the labels of a text as transformers' TextClassificationPipeline does, best first.
 *
 * @param logits [labels]
 * @param topK maximum number of results; default: all labels
 */
export const labelScores = (
  logits: Float32Array,
  labels: readonly string[],
  activation: Activation,
  topK?: number,
): LabelScore[] => bestLabels(activations[activation](logits), labels, topK);

/** Returns the labels with the highest scores, best first. Of equal scores, the earlier label comes first. */
export const bestLabels = (
  scores: ArrayLike<number>,
  labels: readonly string[],
  topK: number = labels.length,
): LabelScore[] =>
  bestOf(
    labels.map((label, i) => ({ label, score: scores[i] as number })),
    ({ score }) => score,
    topK,
  );
