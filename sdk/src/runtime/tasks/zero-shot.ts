import { bestLabels, type LabelScore } from "./classify.ts";
import { cosine } from "./sentence-vector.ts";
import { softmax } from "./softmax.ts";

/**
 * Factor of cosines before a softmax: the default `scale` of sentence-transformers' MultipleNegativesRankingLoss, with which
 * most sentence encoders learn to find the right text among several.
 */
const COSINE_SCALE = 20;

export interface ZeroShotOptions {
  readonly candidateLabels: readonly string[];
  /** Several labels can be true, so each is scored on its own. */
  readonly multiLabel: boolean;
}

/** Returns the hypothesis for a candidate label: the template with the label in place of `{}`. */
export const hypothesisOf = (template: string, label: string): string => template.split("{}").join(label);

/**
 * Finds a classifier's label for entailment as transformers does: the first that begins with "entail", in any case.
 * Classifiers without one were not trained for natural language inference.
 */
export function entailmentIndex(labels: readonly string[]): number | undefined {
  const index = labels.findIndex((label) => label.toLowerCase().startsWith("entail"));
  return index < 0 ? undefined : index;
}

/**
 * Scores candidate labels with a cross-encoder for natural language inference, best first, as transformers'
 * ZeroShotClassificationPipeline does. The formula is from https://arxiv.org/abs/1909.00161.
 *
 * The scores are a softmax over the entailment logits of all candidates. With `multiLabel`, or if there is only one candidate,
 * each score is a softmax over its logits for entailment and contradiction. Contradiction is the first label, or the last if
 * entailment is the first.
 *
 * @param logits for the text with each hypothesis: [candidates] of [labels]
 * @param entailment what `entailmentIndex` returned
 */
export function entailmentScores(
  logits: readonly Float32Array[],
  entailment: number,
  { candidateLabels, multiLabel }: ZeroShotOptions,
): LabelScore[] {
  const entailments = logits.map((row) => row[entailment] as number);
  const contradiction = (row: Float32Array) => (entailment === 0 ? row.at(-1) : row[0]) as number;
  const scores =
    multiLabel || logits.length === 1
      ? logits.map((row, i) => softmax([contradiction(row), entailments[i] as number])[1] as number)
      : softmax(entailments);
  return bestLabels(scores, candidateLabels);
}

/**
 * Scores candidate labels with a sentence encoder, best first. This is for deployments without a cross-encoder; transformers
 * has no such pipeline.
 *
 * The scores are softmax(20 · cosine) over all candidates. With `multiLabel`, or if there is only one candidate, each score is
 * max(cosine, 0).
 *
 * @param text the text's vector: [dimensions]
 * @param hypotheses vectors of the hypotheses: [candidates] of [dimensions]
 */
export function cosineScores(
  text: Float32Array,
  hypotheses: readonly Float32Array[],
  { candidateLabels, multiLabel }: ZeroShotOptions,
): LabelScore[] {
  const cosines = hypotheses.map((hypothesis) => cosine(text, hypothesis));
  const scores =
    multiLabel || hypotheses.length === 1
      ? cosines.map((value) => Math.max(value, 0))
      : softmax(cosines.map((value) => COSINE_SCALE * value));
  return bestLabels(scores, candidateLabels);
}
