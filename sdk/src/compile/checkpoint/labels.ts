import * as v from "valibot";
import { type ProblemType, problemTypes } from "../../artifact/manifest.ts";
import { Count } from "./config-keys.ts";

/** Number of labels if config.json gives none, as in transformers. */
const LABELS = 2;
/**
 * Maximum of `num_labels`. A wrong config.json could otherwise fill the memory, because names for all labels are made
 * before the tensors are checked.
 */
const MAX_LABELS = 100_000;

/** Labels of a classifier, from config.json. */
export interface Labels {
  /** Names by index; LABEL_0, LABEL_1, … (as in transformers) if config.json has none. */
  readonly labels: readonly string[];
  readonly problemType: ProblemType | undefined;
}

const Keys = v.object({
  id2label: v.nullish(v.record(v.string(), v.string())),
  num_labels: v.nullish(v.pipe(Count, v.maxValue(MAX_LABELS))),
  problem_type: v.nullish(v.picklist(problemTypes, `problem_type must be one of ${problemTypes.join(", ")}`)),
});

export const Labels: v.GenericSchema<unknown, Labels> = v.pipe(
  Keys,
  v.transform(({ id2label, num_labels, problem_type }) => {
    const count = id2label ? Object.keys(id2label).length : (num_labels ?? LABELS);
    const labels = Array.from({ length: count }, (_, i) => (id2label ? id2label[i] : `LABEL_${i}`));
    return { labels, problemType: problem_type ?? undefined, num_labels };
  }),
  v.check(
    ({ labels }) => labels.length > 0 && labels.every((label) => label !== undefined),
    "id2label must name the labels 0, 1, … without a gap",
  ),
  v.check(
    ({ labels, num_labels }) => (num_labels ?? labels.length) === labels.length,
    "num_labels must be the number of names in id2label",
  ),
  v.check(
    ({ labels, problemType }) => problemType !== "single_label_classification" || labels.length > 1,
    "single_label_classification needs at least two labels",
  ),
  v.transform(({ labels, problemType }) => ({ labels: labels as string[], problemType })),
);
