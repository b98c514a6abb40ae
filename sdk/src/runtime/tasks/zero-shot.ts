import type { TextInput } from "../text-input.ts";
import { bestLabels, type LabelScore, logistic } from "./classify.ts";
import { softmax } from "./scores.ts";
import { cosine } from "./sentence-vector.ts";
import type { CuttingOptions, ModelOutput, TaskCall } from "./task-call.ts";
import { cannotInfer } from "./unfit-classifier.ts";

export interface ZeroShotOptions extends CuttingOptions {
  /** Whether several labels can be true, so that each is scored on its own. Default false. */
  readonly multiLabel?: boolean | undefined;
  /** Sentence with `{}` in place of the label. Default `This example is {}.`, as in transformers. */
  readonly hypothesisTemplate?: string | undefined;
}

/** Classifies texts by labels of the request. The result is all labels for each text, best first. */
export const zeroShotCall = (
  texts: readonly string[],
  candidateLabels: readonly string[],
  { multiLabel = false, hypothesisTemplate = "This example is {}.", truncate = false }: ZeroShotOptions = {},
): TaskCall<LabelScore[][], ModelOutput> => ({
  texts,
  size: texts.length * candidateLabels.length,
  on(manifest) {
    const hypotheses = candidateLabels.map((label) => hypothesisOf(hypothesisTemplate, label));
    const options = { candidateLabels, multiLabel };
    if (manifest.task === "embed") {
      return {
        inputs: [...texts, ...hypotheses],
        truncate,
        decode(vectors) {
          const labels = vectors.slice(texts.length);
          return vectors.slice(0, texts.length).map((vector) => cosineScores(vector, labels, options));
        },
      };
    }
    const entailment = manifest.task === "classify" ? entailmentIndex(manifest.labels) : undefined;
    const isPair = manifest.task === "classify" && manifest.input === "pair";
    if (entailment === undefined || !isPair) throw cannotInfer(manifest, entailment);
    const { length } = hypotheses;
    return {
      inputs: texts.flatMap((text) => hypotheses.map((hypothesis): TextInput => [text, hypothesis])),
      truncate,
      decode: (outputs) =>
        texts.map((_, i) => entailmentScores(outputs.slice(i * length, (i + 1) * length), entailment, options)),
    };
  },
});

/**
 * Factor of cosines before a softmax: the default `scale` of sentence-transformers' MultipleNegativesRankingLoss, with which
 * most sentence encoders learn to find the right text among several.
 */
const COSINE_SCALE = 20;

export interface Candidates {
  readonly candidateLabels: readonly string[];
  /** Whether several labels can be true, so that each is scored on its own. */
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
 * @param entailment index of the label for entailment, as `entailmentIndex` returns it
 */
export function entailmentScores(
  logits: readonly Float32Array[],
  entailment: number,
  { candidateLabels, multiLabel }: Candidates,
): LabelScore[] {
  const entailments = logits.map((row) => row[entailment] as number);
  const contradiction = (row: Float32Array) => (entailment === 0 ? row.at(-1) : row[0]) as number;
  if (!multiLabel && logits.length > 1) {
    return bestLabels(candidateLabels, { ranks: entailments, scores: softmax(entailments) });
  }
  const logOdds = logits.map((row, i) => (entailments[i] as number) - contradiction(row));
  return bestLabels(candidateLabels, { ranks: logOdds, scores: logOdds.map(logistic) });
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
  { candidateLabels, multiLabel }: Candidates,
): LabelScore[] {
  const cosines = hypotheses.map((hypothesis) => cosine(text, hypothesis));
  const scores =
    multiLabel || hypotheses.length === 1
      ? cosines.map((value) => Math.max(value, 0))
      : softmax(cosines.map((value) => COSINE_SCALE * value));
  return bestLabels(candidateLabels, { ranks: cosines, scores });
}
