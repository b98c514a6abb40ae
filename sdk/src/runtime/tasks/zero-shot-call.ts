import type { TextInput } from "../text-input.ts";
import type { Truncation } from "../truncation.ts";
import type { LabelScore } from "./classify.ts";
import type { TaskCall } from "./task-call.ts";
import { cannotInfer } from "./unfit-classifier.ts";
import { cosineScores, entailmentIndex, entailmentScores, hypothesisOf } from "./zero-shot.ts";

export interface ZeroShotParameters {
  readonly candidateLabels: readonly string[];
  /** Whether several labels can be true, so that each is scored on its own. Default false. */
  readonly multiLabel?: boolean | undefined;
  /** Sentence with `{}` in place of the label. Default `This example is {}.`, as in transformers. */
  readonly hypothesisTemplate?: string | undefined;
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: Truncation | undefined;
}

/** Classifies texts by labels of the request. The result is all labels for each text, best first. */
export const zeroShotCall = (
  texts: readonly string[],
  {
    candidateLabels,
    multiLabel = false,
    hypothesisTemplate = "This example is {}.",
    truncate = false,
  }: ZeroShotParameters,
): TaskCall<LabelScore[][]> => ({
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
