import * as v from "valibot";
import { zeroShotCall } from "../../runtime/tasks/zero-shot.ts";
import { bodyOf, ownAnswer, ScoredLabel, Texts, Truncate } from "../contract/fields.ts";
import { camelCase } from "../contract/javascript.ts";
import { answerFields, taskAt } from "../routes/task-route.ts";

/** Maximum number of characters of a label, and of the template: each hypothesis contains both. */
export const MAX_LABEL_CHARACTERS = 1_000;

export const CandidateLabel = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "must not be empty"),
  v.maxLength(MAX_LABEL_CHARACTERS, `must have at most ${MAX_LABEL_CHARACTERS} characters`),
);

/** Sentence with one `{}` in place of the label. Other braces are refused: they have a meaning in transformers' `str.format`. */
export const HypothesisTemplate = v.pipe(
  v.string(),
  v.maxLength(MAX_LABEL_CHARACTERS, `must have at most ${MAX_LABEL_CHARACTERS} characters`),
  v.regex(/^[^{}]*\{\}[^{}]*$/, "must contain {} once, for the label, and no other braces"),
);

export const zeroShotRoute = taskAt("/v1/zero-shot", {
  schema: bodyOf({
    inputs: Texts,
    candidate_labels: v.pipe(v.array(CandidateLabel), v.minLength(1, "must have at least one label")),
    /** Whether several labels can be true, so that each is scored on its own. */
    multi_label: v.optional(v.boolean(), false),
    /** Sentence with `{}` in place of the label. */
    hypothesis_template: v.optional(HypothesisTemplate, "This example is {}."),
    truncate: Truncate,
  }),
  summary: "Scores of labels of your own",
  example: { inputs: "We flew to Paris.", candidate_labels: ["travel", "cooking"] },
  response: ownAnswer({
    /** The labels of each input, best first. */
    results: v.array(v.array(ScoredLabel)),
  }),
  call: ({ inputs, candidate_labels, ...options }) => zeroShotCall(inputs, candidate_labels, camelCase(options)),
  respond: (answer) => ({ ...answerFields(answer), results: answer.result }),
});

/** The body of `POST /v1/zero-shot`. */
export type ZeroShotRequest = v.InferInput<typeof zeroShotRoute.schema>;
export type ZeroShotResponse = v.InferOutput<typeof zeroShotRoute.response>;
