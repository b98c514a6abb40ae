import type { Manifest, ScoreActivation } from "../../artifact/manifest.ts";
import type { Classifier } from "./classify.ts";

/** A classifier of pairs whose logits say how well two texts fit. */
export interface PairScorer {
  readonly manifest: Classifier;
  /** Index of the label whose score says how well the texts fit. */
  readonly label: number;
  /** Function that turns the logit into the model's own score. */
  readonly activation: ScoreActivation;
  /**
   * Returns the logit whose sigmoid is the probability of the label. If exactly one of two labels is true, this is the difference of
   * their logits: its sigmoid equals a softmax over both.
   *
   * @param logits [labels]
   */
  readonly logitOf: (logits: Float32Array) => number;
}

/**
 * Returns how a classifier of pairs scores two texts; undefined if it reads single texts or has more than two labels.
 * The manifest's activation is used only if there is one label: sentence-transformers writes Identity for all models with two or more.
 */
export function pairScorer(manifest: Manifest): PairScorer | undefined {
  if (manifest.task !== "classify" || manifest.input !== "pair" || manifest.labels.length > 2) return undefined;
  const { labels, problem, activation = "sigmoid" } = manifest;
  const label = relevantLabel(labels);
  const own = (logits: Float32Array) => logits[label] as number;
  if (labels.length === 1) return { manifest, label, activation, logitOf: own };
  const isOneTrue = problem !== "multi_label_classification";
  return {
    ...{ manifest, label, activation: "sigmoid" },
    logitOf: isOneTrue ? (logits) => own(logits) - (logits[1 - label] as number) : own,
  };
}

const RELEVANT = new Set(["positive", "relevant", "entailment"]);
const NEGATION = new Set(["not", "non", "no"]);

/** Finds the label for texts that fit: the only label with a `RELEVANT` and no `NEGATION` word in its name, else the last label. */
function relevantLabel(labels: readonly string[]): number {
  const named = labels.flatMap((label, i) => {
    const words = label.toLowerCase().split(/[^a-z]+/);
    return words.some((word) => RELEVANT.has(word)) && !words.some((word) => NEGATION.has(word)) ? [i] : [];
  });
  return named.length === 1 ? (named[0] as number) : labels.length - 1;
}
