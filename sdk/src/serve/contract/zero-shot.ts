import * as v from "valibot";
import { ownAnswer, ownBody, ScoredLabel, Texts, Truncate } from "./fields.ts";

const Label = v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty"));

/** The body of `POST /v1/zero-shot`. */
export const ZeroShotRequest = ownBody({
  inputs: Texts,
  candidate_labels: v.pipe(v.array(Label), v.minLength(1, "must have at least one label")),
  /** Whether several labels can be true, so that each is scored on its own. */
  multi_label: v.optional(v.boolean(), false),
  /** Sentence with `{}` in place of the label. */
  hypothesis_template: v.optional(
    v.pipe(v.string(), v.includes("{}", "must contain {}, which stands for the label")),
    "This example is {}.",
  ),
  truncate: Truncate,
});
export type ZeroShotRequest = v.InferInput<typeof ZeroShotRequest>;

export const ZeroShotResponse = ownAnswer({
  /** The labels of each input, best first. */
  results: v.array(v.array(ScoredLabel)),
});
export type ZeroShotResponse = v.InferOutput<typeof ZeroShotResponse>;
